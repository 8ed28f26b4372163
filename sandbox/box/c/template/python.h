/* The interpreter of a template, which is used by its C API, and how it runs a program (python.c). */
#pragma once
#include <sys/types.h>

enum { CODE_AT = 4 }; /* in a case: its code, which follows the header of a .pyc file */

typedef struct object object;
#define API(name, result, ...) extern result (*name)(__VA_ARGS__);
#define FUNCTIONS \
    API(PyBytes_AsString, char *, object *) \
    API(PyBytes_Size, ssize_t, object *) \
    API(PyDict_DelItemString, int, object *, const char *) \
    API(PyErr_Clear, void, void) \
    API(PyErr_ExceptionMatches, int, object *) \
    API(PyErr_Fetch, void, object **, object **, object **) \
    API(PyErr_NormalizeException, void, object **, object **, object **) \
    API(PyErr_Occurred, object *, void) \
    API(PyErr_Print, void, void) \
    API(PyErr_Restore, void, object *, object *, object *) \
    API(PyEval_EvalCode, object *, object *, object *, object *) \
    API(PyGILState_Ensure, int, void) \
    API(PyGILState_Release, void, int) \
    API(PyImport_AddModule, object *, const char *) \
    API(PyList_GetItem, object *, object *, ssize_t) \
    API(PyList_Size, ssize_t, object *) \
    API(PyLong_AsLong, long, object *) \
    API(PyMarshal_ReadObjectFromString, object *, const char *, ssize_t) \
    API(PyModule_GetDict, object *, object *) \
    API(PyOS_AfterFork_Child, void, void) \
    API(PyOS_AfterFork_Parent, void, void) \
    API(PyOS_BeforeFork, void, void) \
    API(PyObject_CallMethod, object *, object *, const char *, const char *, ...) \
    API(PyObject_CallObject, object *, object *, object *) \
    API(PyObject_GetAttrString, object *, object *, const char *) \
    API(PyObject_IsTrue, int, object *) \
    API(PyObject_Type, object *, object *) \
    API(PyRun_SimpleString, int, const char *) \
    API(PySys_GetObject, object *, const char *) \
    API(PySys_SetObject, int, const char *, object *) \
    API(PyType_GetSlot, void *, void *, int) \
    API(PyType_IsSubtype, int, object *, object *) \
    API(Py_DecRef, void, object *) \
    API(Py_Exit, void, int) \
    API(Py_FinalizeEx, int, void) \
    API(Py_IncRef, void, object *)
FUNCTIONS
#undef API

extern int asked; /* an import has read an id of its process or user, which is another in the program's process */

/* Find the functions above in this process. Return 0 when one is missing. */
int find_python(void);

/* Run the prelude, which leaves its functions in `sys`. Call them before and after the imports, which have
 * nothing else on the stack, as in a program. Return 0, or -1 when something has failed. */
int run_prelude(const char *prelude);

/* Let the interpreter's end find all objects, those of the template included. */
void let_it_end_itself(void);

/* Run the compiled program as `__main__`, as the interpreter runs a script, and exit. */
void run_program(void);
