print("Übergrößenträger 漢字 😀")
