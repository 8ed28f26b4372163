words = $stdin.read.split

def deep(n)
  n.zero? ? 0 : 1 + deep(n - 1)
end

case words[0]
when "hello" then puts "hello"
when "sum" then puts words.drop(2).sum(&:to_i)
when "crash" then exit! 134
when "error" then puts nil.length
when "memory"
  kept = []
  loop { kept << "x" * (1 << 20) }
when "spin" then loop {}
when "deep" then puts deep(50000)
end
