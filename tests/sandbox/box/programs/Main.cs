using System;
using System.Collections.Generic;

static class Solver {
    static int Deep(int n) { return n == 0 ? 0 : 1 + Deep(n - 1); }

    static void Main() {
        var words = Console.In.ReadToEnd().Split((char[])null, StringSplitOptions.RemoveEmptyEntries);
        switch (words[0]) {
            case "hello": Console.WriteLine("hello"); break;
            case "sum":
                long sum = 0;
                for (int i = 2; i < words.Length; i++) sum += long.Parse(words[i]);
                Console.WriteLine(sum);
                break;
            case "crash": Environment.Exit(134); break;
            case "error": Console.WriteLine(words[100]); break;
            case "memory":
                var kept = new List<byte[]>();
                while (true) { var b = new byte[1 << 20]; for (int i = 0; i < b.Length; i++) b[i] = 1; kept.Add(b); }
            case "spin": { long i = 0; while (i >= 0) i = (i + 1) & 1023; break; }
            case "deep": Console.WriteLine(Deep(50000)); break;
        }
    }
}
