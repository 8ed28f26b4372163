print(hash("gradebox"), list({"a", "b", "c", "d"}))
