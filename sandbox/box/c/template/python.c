#define _GNU_SOURCE
#include "python.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEADER = 16 }; /* bytes of a .pyc file before its code */

#define API(name, result, ...) result (*name)(__VA_ARGS__);
FUNCTIONS
#undef API
static object **PyExc_SystemExit, **PyExc_KeyboardInterrupt, *PyLong_Type, *none;

int find_python(void) {
#define API(name, result, ...) {#name, (void **)&name},
    const struct { const char *name; void **into; } wanted[] = {
        FUNCTIONS
        {"PyExc_SystemExit", (void **)&PyExc_SystemExit},
        {"PyExc_KeyboardInterrupt", (void **)&PyExc_KeyboardInterrupt},
        {"PyLong_Type", (void **)&PyLong_Type}, {"_Py_NoneStruct", (void **)&none}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!(*wanted[i].into = dlsym(RTLD_DEFAULT, wanted[i].name))) return 0;
    return 1;
}

/* ---- before and after a program, in Python (prelude.py) -------------------------------------- */

static object *begin, *imports, *ready, *finish, *unfreeze, *get_objects; /* left in `sys` by the prelude */
static object *excepthook, *gettrace, *getprofile; /* as they were at the start */
static object *first; /* an object of the program that was made before it began */
static void **classes; /* those whose objects this template has, without a `__del__` */
static size_t nclasses;

static object *main_names(void) {
    object *main = PyImport_AddModule("__main__"), *names = main ? PyModule_GetDict(main) : NULL;
    PyErr_Clear();
    return names;
}

static int add_classes(object *addresses) {
    ssize_t size = addresses ? PyBytes_Size(addresses) : -1;
    void **more = size < 0 ? NULL : realloc(classes, nclasses * sizeof *classes + size + 1);
    if (!more) return -1;
    memcpy((classes = more) + nclasses, PyBytes_AsString(addresses), size);
    nclasses += size / sizeof *classes;
    Py_DecRef(addresses);
    return 0;
}

/* Whether the program has given one of them a `__del__`. They exist still: their objects are frozen. */
static int has_new_del(void) {
    enum { TP_FINALIZE = 80 };
    for (size_t i = 0; i < nclasses; i++)
        if (PyType_GetSlot(classes[i], TP_FINALIZE)) return 1;
    return 0;
}

int asked;

int run_prelude(const char *prelude) {
    static const struct { const char *name; object **into; int stays; } functions[] = {
        {"gradebox_begin", &begin, 0}, {"gradebox_imports", &imports, 0}, {"gradebox_ready", &ready, 0},
        {"gradebox_finish", &finish, 0}, {"gradebox_unfreeze", &unfreeze, 0}, {"gradebox_objects", &get_objects, 0},
        {"excepthook", &excepthook, 1}, {"gettrace", &gettrace, 1}, {"getprofile", &getprofile, 1}};
    object *names = main_names();
    if (!names || PyRun_SimpleString(prelude)) return -1;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        object **into = functions[i].into;
        if (!(*into = PySys_GetObject(functions[i].name))) return -1;
        Py_IncRef(*into);
        if (!functions[i].stays) PySys_SetObject(functions[i].name, NULL);
    }
    asked = 0;
    if (imports != none && (chdir("/box/work") || !PyObject_CallObject(begin, NULL) ||
                            !PyEval_EvalCode(imports, names, names) || asked || chdir("/"))) return -1;
    Py_DecRef(imports);
    int failed = add_classes(PyObject_CallObject(ready, NULL));
    Py_DecRef(ready);
    return failed;
}

/* ---- running the program --------------------------------------------------------------------- */

static int ends_itself; /* the interpreter's own end is needed: something may happen in it */

/* Whether the program has called gc.freeze, which hides its objects from its end. */
static int has_frozen(void) {
    object *objects = first ? PyObject_CallObject(get_objects, NULL) : NULL;
    ssize_t n = objects ? PyList_Size(objects) : 0, i = 0;
    while (i < n && PyList_GetItem(objects, i) != first) i++;
    Py_DecRef(objects);
    return objects && i == n;
}

void let_it_end_itself(void) {
    object *kind, *value, *trace;
    PyErr_Fetch(&kind, &value, &trace);
    if (!has_frozen()) Py_DecRef(PyObject_CallObject(unfreeze, NULL));
    PyErr_Restore(kind, value, trace);
    ends_itself = 1;
}

static void flush(const char *name) {
    object *stream = PySys_GetObject(name), *kind, *value, *trace;
    if (!stream) return;
    PyErr_Fetch(&kind, &value, &trace);
    Py_IncRef(stream);
    Py_DecRef(PyObject_CallMethod(stream, "flush", NULL));
    Py_DecRef(stream);
    PyErr_Clear();
    PyErr_Restore(kind, value, trace);
}

/* Return whether the program ended with SystemExit and a plain exit status. */
static int exits(int *status) {
    object *kind, *value, *trace;
    PyErr_Fetch(&kind, &value, &trace);
    PyErr_NormalizeException(&kind, &value, &trace);
    object *own = PyObject_Type(value), *code = NULL, *type = NULL;
    if (own == *PyExc_SystemExit && (code = PyObject_GetAttrString(value, "code"))) type = PyObject_Type(code);
    int plain = code == none || (type && PyType_IsSubtype(type, PyLong_Type));
    *status = 0;
    if (plain && code != none) *status = PyLong_AsLong(code), plain = !PyErr_Occurred();
    if (plain) {
        Py_DecRef(kind), Py_DecRef(value), Py_DecRef(trace);
    } else PyErr_Restore(kind, value, trace);
    Py_DecRef(own), Py_DecRef(code), Py_DecRef(type);
    return plain;
}

static void forget_file(void) {
    object *names = main_names();
    if (!names) return;
    if (PyDict_DelItemString(names, "__file__")) PyErr_Clear();
    if (PyDict_DelItemString(names, "__cached__")) PyErr_Clear();
}

/* Whether the exception ends the process as the signal does. Subclasses do since Python 3.14. */
static int is_interrupt(void) {
    const unsigned long *version = dlsym(RTLD_DEFAULT, "Py_Version"); /* exists since 3.11 */
    if (version && *version >= 0x030E0000) return PyErr_ExceptionMatches(*PyExc_KeyboardInterrupt);
    return PyErr_Occurred() == *PyExc_KeyboardInterrupt;
}

/* Report the exception that ended the program as the interpreter does. Return its exit status. */
static int report_exception(void) {
    int status = 1, interrupted = is_interrupt();
    if (PyErr_ExceptionMatches(*PyExc_SystemExit)) {
        if (exits(&status)) return status;
        let_it_end_itself();
    } else if (interrupted || PySys_GetObject("excepthook") != excepthook) let_it_end_itself();
    PyErr_Print(); /* a SystemExit ends the process */
    if (interrupted) {
        forget_file();
        Py_FinalizeEx();
        signal(SIGINT, SIG_DFL);
        kill(getpid(), SIGINT);
        exit(128 + SIGINT);
    }
    return 1;
}

static int is_none(object *function) {
    object *result = PyObject_CallObject(function, NULL);
    Py_DecRef(result);
    return result == none;
}

/* Its objects are taken down one by one only where that can be noticed: the pages of a template would all be copied for it. */
void run_program(void) {
    struct stat s;
    char *bytes = fstat(CODE_AT, &s) ? NULL : malloc(s.st_size);
    if (!bytes || s.st_size < HEADER || pread(CODE_AT, bytes, s.st_size, 0) != s.st_size) _exit(125);
    close(CODE_AT);
    object *names = main_names();
    object *code = PyMarshal_ReadObjectFromString(bytes + HEADER, s.st_size - HEADER);
    free(bytes);
    if (!code || !(first = PyObject_CallObject(begin, NULL))) _exit(125);
    Py_IncRef(names);
    object *result = PyEval_EvalCode(code, names, names);
    flush("stderr"), flush("stdout");
    Py_DecRef(code), Py_DecRef(names); /* its names may now be freed whenever the interpreter frees them */
    int exited = !result && PyErr_ExceptionMatches(*PyExc_SystemExit);
    int status = result ? 0 : report_exception();
    Py_DecRef(result);
    if (!exited) forget_file();
    if (!ends_itself && !has_frozen() && is_none(gettrace) && is_none(getprofile)) {
        result = PyObject_CallObject(finish, NULL);
        if (result && PyObject_IsTrue(result) > 0 && !has_new_del()) exit(status);
        Py_DecRef(result);
        PyErr_Clear();
    }
    if (!ends_itself) let_it_end_itself();
    Py_Exit(status);
}
