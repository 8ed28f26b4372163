import a_module_that_nobody_wrote

print(6)
