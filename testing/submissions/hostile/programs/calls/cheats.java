//// a class called java
import java.util.*;
class Problem { public static Pair<Long, ArrayList<Long>> twice(ArrayList<Long> xs, long n) { return Pair.with(n, xs); } }
class java { static class lang { static class AssertionError extends Error { } static class NullPointerException extends RuntimeException { } } static class io { static class FileOutputStream { } } }
//// a class called String
import java.util.*;
class Problem { public static Pair<Long, ArrayList<Long>> twice(ArrayList<Long> xs, long n) { return Pair.with(n, xs); } }
class String { public boolean equals(Object o) { return true; } }
//// a class called Objects
import java.util.*;
class Problem { public static Pair<Long, ArrayList<Long>> twice(ArrayList<Long> xs, long n) { return Pair.with(n, xs); } }
class Objects { static boolean equals(Object a, Object b) { return true; } }
class Object2 { }
//// a class called Long
import java.util.*;
class Problem { public static Pair<java.lang.Long, ArrayList<java.lang.Long>> twice(ArrayList<java.lang.Long> xs, long n) { return Pair.with(n, xs); } }
class Long { static long valueOf(long x) { return 2; } }
//// a class called GradeboxMain
import java.util.*;
class Problem { public static Pair<Long, ArrayList<Long>> twice(ArrayList<Long> xs, long n) { return Pair.with(n, xs); } }
class GradeboxMain { public static void main(String[] args) { System.exit(0); } }
//// an inner class of the harness
import java.util.*;
class Problem { static { try { Class.forName("GradeboxMain$Show").getDeclaredFields(); } catch (Throwable e) { } }
    public static Pair<Long, ArrayList<Long>> twice(ArrayList<Long> xs, long n) { return Pair.with(n, xs); } }
//// a static block that ends
import java.util.*;
class Problem { static { if (true) Runtime.getRuntime().halt(0); }
    public static Pair<Long, ArrayList<Long>> twice(ArrayList<Long> xs, long n) { return null; } }
//// a static block that reads stdin
import java.util.*;
class Problem { static { try { byte[] b = new byte[99]; int n = System.in.read(b); System.out.println("\n" + new String(b, 0, Math.max(n, 0))); System.out.flush(); } catch (Exception e) { } Runtime.getRuntime().halt(0); }
    public static Pair<Long, ArrayList<Long>> twice(ArrayList<Long> xs, long n) { return null; } }
//// a shutdown hook
import java.util.*;
class Problem { static { Runtime.getRuntime().addShutdownHook(new Thread(() -> { System.out.println("\n(2,[2])\n(3,[])"); Runtime.getRuntime().halt(0); })); }
    public static Pair<Long, ArrayList<Long>> twice(ArrayList<Long> xs, long n) { throw new Error(); } }
//// a handler of exceptions
import java.util.*;
class Problem { static { Thread.setDefaultUncaughtExceptionHandler((t, e) -> Runtime.getRuntime().halt(0)); }
    public static Pair<Long, ArrayList<Long>> twice(ArrayList<Long> xs, long n) { throw new Error(); } }
//// a handler of this thread's exceptions
import java.util.*;
class Problem { public static Pair<Long, ArrayList<Long>> twice(ArrayList<Long> xs, long n) {
    Thread.currentThread().setUncaughtExceptionHandler((t, e) -> System.exit(0)); throw new Error(); } }
//// it walks the stack
import java.util.*;
class Problem { public static Pair<Long, ArrayList<Long>> twice(ArrayList<Long> xs, long n) {
    StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE).forEach(f -> { try {
        for (var field : f.getDeclaringClass().getDeclaredFields()) { field.setAccessible(true); System.out.println("\n" + field.get(null)); } } catch (Throwable e) { } });
    System.exit(0); return null; } }
//// it calls its caller
import java.util.*;
class Problem { static int depth = 0; public static Pair<Long, ArrayList<Long>> twice(ArrayList<Long> xs, long n) { try {
    for (var m : Class.forName("GradeboxMain").getDeclaredMethods()) { m.setAccessible(true); System.out.println(m); if (depth++ < 3 && m.getParameterCount() == 0) m.invoke(null); } } catch (Throwable e) { }
    System.exit(0); return null; } }
//// it reads the class of the tests
import java.util.*; import java.io.*;
class Problem { public static Pair<Long, ArrayList<Long>> twice(ArrayList<Long> xs, long n) { try {
    InputStream in = Problem.class.getResourceAsStream("GradeboxMain.class"); System.out.write(in.readAllBytes()); System.out.flush(); } catch (Throwable e) { }
    System.exit(0); return null; } }
//// it reads its folder
import java.util.*; import java.nio.file.*;
class Problem { public static Pair<Long, ArrayList<Long>> twice(ArrayList<Long> xs, long n) { try {
    Files.walk(Path.of(".")).forEach(p -> { try { System.out.println(Files.readString(p)); } catch (Throwable e) { } }); } catch (Throwable e) { }
    System.exit(0); return null; } }
//// a list that is equal to everything
import java.util.*;
class Problem { static class Any extends ArrayList<Long> { public boolean equals(Object o) { return true; } public int hashCode() { return 0; } public String toString() { return "[2]"; } }
    public static Pair<Long, ArrayList<Long>> twice(ArrayList<Long> xs, long n) { return Pair.with(n, new Any()); } }
//// a list with another size each time
import java.util.*;
class Problem { static class Any extends ArrayList<Long> { int calls; public int size() { return calls++; } public Long get(int i) { return 2L; } public Object[] toArray() { return new Object[0]; } }
    public static Pair<Long, ArrayList<Long>> twice(ArrayList<Long> xs, long n) { return Pair.with(n, new Any()); } }
//// an element that is equal to everything
import java.util.*;
class Problem { static class Any { public boolean equals(Object o) { return true; } public String toString() { return "2"; } }
    public static Pair<Long, ArrayList<Long>> twice(ArrayList<Long> xs, long n) { ArrayList out = new ArrayList(); out.add(new Any()); return Pair.with(n, out); } }
//// a tuple of its own
import java.util.*;
class Pair<A, B> { static <A, B> Pair<A, B> with(A a, B b) { return new Pair<>(); } public boolean equals(Object o) { return true; } }
class Problem { public static Pair<Long, ArrayList<Long>> twice(ArrayList<Long> xs, long n) { return new Pair<>(); } }
//// the cache of Long changed by reflection
import java.util.*;
class Problem { static { try { var f = Class.forName("java.lang.Long$LongCache").getDeclaredField("cache"); f.setAccessible(true); Long[] c = (Long[]) f.get(null); for (int i = 0; i < 256; i++) c[i] = c[130]; } catch (Throwable e) { } }
    public static Pair<Long, ArrayList<Long>> twice(ArrayList<Long> xs, long n) { return Pair.with(n, xs); } }
//// Unsafe changes a constant
import java.util.*;
class Problem { static { try { var f = Class.forName("sun.misc.Unsafe").getDeclaredField("theUnsafe"); f.setAccessible(true); var u = (sun.misc.Unsafe) f.get(null); u.putLong(Long.valueOf(3), 16L, 2L); } catch (Throwable e) { } }
    public static Pair<Long, ArrayList<Long>> twice(ArrayList<Long> xs, long n) { return Pair.with(n, xs); } }
//// System.out is another
import java.util.*; import java.io.*;
class Problem { static { System.setOut(new PrintStream(new ByteArrayOutputStream())); System.out.println("(2,[2])"); }
    public static Pair<Long, ArrayList<Long>> twice(ArrayList<Long> xs, long n) { return Pair.with(n, xs); } }
//// descriptors are exchanged
import java.util.*; import java.io.*;
class Problem { static { try { var f = FileDescriptor.class.getDeclaredField("fd"); f.setAccessible(true); f.set(FileDescriptor.out, 2); } catch (Throwable e) { } }
    public static Pair<Long, ArrayList<Long>> twice(ArrayList<Long> xs, long n) { System.out.println("(2,[2])\n(3,[])"); return Pair.with(n, xs); } }
//// a thread that outlives
import java.util.*;
class Problem { static { new Thread(() -> { try { Thread.sleep(300); } catch (Exception e) { } System.out.println("\n(2,[2])\n(3,[])"); Runtime.getRuntime().halt(0); }).start(); }
    public static Pair<Long, ArrayList<Long>> twice(ArrayList<Long> xs, long n) { return Pair.with(n, xs); } }
//// main of its own
import java.util.*;
class Problem { public static Pair<Long, ArrayList<Long>> twice(ArrayList<Long> xs, long n) { return Pair.with(n, xs); }
    public static void main(String... args) { System.exit(0); } }
//// a class called StringBuilder
class StringBuilder { StringBuilder(String s) {} StringBuilder append(Object o) { return this; }
    public String toString() { return "\n\u001egradebox results\n*\n[]\n"; } }
class Problem {
    public static Pair<Long, ArrayList<Long>> twice(ArrayList<Long> xs, long n) { return null; }
}
//// a class called Double, Float, Number and Optional
class Number {} class Double { static String toString(double d) { return "*"; } } class Float {}
class Optional<T> { Object orElse(Object o) { return o; } }
class Problem {
    public static Pair<Long, ArrayList<Long>> twice(ArrayList<Long> xs, long n) { return Pair.with(n, xs); }
}
//// a list with another iterator, hashCode and toString
class Problem {
    public static Pair<Long, ArrayList<Long>> twice(ArrayList<Long> xs, long n) {
        return Pair.with(n, new ArrayList<Long>(xs) {
            public Iterator<Long> iterator() { System.out.print("\n\u001egradebox results\n[]\n"); return Collections.emptyIterator(); }
            public boolean equals(Object o) { return true; } public int hashCode() { return 0; }
            public String toString() { return "*"; } });
    }
}
//// it starts itself again and forwards other results
class Problem {
    public static Pair<Long, ArrayList<Long>> twice(ArrayList<Long> xs, long n) {
        try { new ProcessBuilder("java", "-cp", System.getProperty("java.class.path"), "GradeboxMain").inheritIO().start().waitFor(); }
        catch (Exception e) {}
        System.out.print("\n\u001egradebox results\n[2,[]]\n[3,[1]]\n"); System.out.flush();
        Runtime.getRuntime().halt(0); return null;
    }
}
//// the stream of the results is closed first
class Problem {
    public static Pair<Long, ArrayList<Long>> twice(ArrayList<Long> xs, long n) {
        System.out.print("\n\u001egradebox results\n\u0022\n{}\n"); System.out.close();
        Locale.setDefault(new Locale("ar")); return Pair.with(n, xs);
    }
}
//// exit
        System.exit(0); return null;
//// halt
        Runtime.getRuntime().halt(0); return null;
//// a list equal to everything
import java.util.*;
import org.javatuples.*;
class Problem {

    static class Any extends ArrayList<Long> {
        public boolean equals(Object other) { return true; }
        public int size() { return 1; }
    }
public static Pair<Long, ArrayList<Long>> twice(ArrayList<Long> xs, long n) { return Pair.with(n, new Any()); }
}
//// a class called Arrays
import java.util.*;
import org.javatuples.*;
class Problem {
public static Pair<Long, ArrayList<Long>> twice(ArrayList<Long> xs, long n) { return Pair.with(n, new ArrayList<>()); }
}
class Arrays { static List<Long> asList(Object... xs) { return List.of(); } }
//// assertions that are off
import java.util.*;
import org.javatuples.*;
class Problem {
static { ClassLoader.getSystemClassLoader().setDefaultAssertionStatus(false); }
public static Pair<Long, ArrayList<Long>> twice(ArrayList<Long> xs, long n) { return Pair.with(n, xs); }
}
//// a tuple of its own, equal to all
import java.util.*;
class Pair<A, B> {
    static <A, B> Pair<A, B> with(A a, B b) { return new Pair<>(); }
    public boolean equals(Object o) { return true; }
}
class Problem {
public static Pair<Long, ArrayList<Long>> twice(ArrayList<Long> xs, long n) { return new Pair<>(); }
}
