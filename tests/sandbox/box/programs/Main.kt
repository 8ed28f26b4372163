import java.io.*
import java.util.StringTokenizer

fun deep(n: Int): Int = if (n == 0) 0 else 1 + deep(n - 1)

fun main() {
    val words = StringTokenizer(BufferedReader(InputStreamReader(System.`in`)).readText())
    when (words.nextToken()) {
        "hello" -> println("hello")
        "sum" -> {
            var sum = 0L
            for (i in 1..words.nextToken().toInt()) sum += words.nextToken().toLong()
            println(sum)
        }
        "crash" -> Runtime.getRuntime().halt(134)
        "error" -> println(listOf<Int>()[3])
        "memory" -> {
            val kept = ArrayList<ByteArray>()
            while (true) kept.add(ByteArray(1 shl 20) { 1 })
        }
        "spin" -> { var i = 0L; while (i >= 0) i = (i + 1) and 1023 }
        "deep" -> println(deep(50000))
    }
}
