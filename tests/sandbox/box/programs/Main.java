import java.io.*;
import java.util.*;

interface Step { int take(int n); }

public class Solver {
    static int deep(int n) { return n == 0 ? 0 : 1 + deep(n - 1); }

    public static void main(String[] args) throws IOException {
        StreamTokenizer in = new StreamTokenizer(new BufferedInputStream(System.in));
        in.nextToken();
        switch (in.sval) {
            case "hello" -> System.out.println("hello");
            case "sum" -> {
                in.nextToken();
                long sum = 0;
                for (int n = (int) in.nval; n > 0; n--) { in.nextToken(); sum += (long) in.nval; }
                System.out.println(sum);
            }
            case "crash" -> Runtime.getRuntime().halt(134);
            case "error" -> System.out.println(new int[args.length][0].length / args.length);
            case "memory" -> {
                List<byte[]> kept = new ArrayList<>();
                while (true) { byte[] b = new byte[1 << 20]; Arrays.fill(b, (byte) 1); kept.add(b); }
            }
            case "spin" -> { long i = 0; while (i >= 0) i = (i + 1) & 1023; }
            case "deep" -> {
                Step step = Solver::deep;
                System.out.println(step.take(50000));
            }
        }
    }
}
