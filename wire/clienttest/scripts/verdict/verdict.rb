# The verdicts of a Ruby client: one line a check, for the test to read.
module Verdict
  HOST, PORT, USER, PASSWORD, DB = %w[HOST PORT USER PASSWORD DB].map { |name| ENV.fetch(name) }
  CLIENT = ENV.fetch("CLIENT")
  MYSQL = ENV.fetch("PROTOCOL") == "mysql"
  META = ENV.fetch("CHECKS").split(",").include?("meta")
  URL = "#{MYSQL ? "mysql2" : "postgres"}://#{USER}:#{PASSWORD}@#{HOST}:#{PORT}/#{DB}".freeze

  @failed = false

  def self.version(text)
    puts "version #{CLIENT} #{text}"
  end

  # check runs the block, which returns two rising ids, false for a failure, or anything else.
  def self.check(what)
    got = yield
    if got.is_a?(Array) && !(got.size == 2 && got[0].is_a?(Integer) && got[0].positive? && got[0] < got[1])
      return fail(what, "not two rising ids: #{got}")
    end
    return fail(what, "false") if got == false

    puts "ok #{CLIENT} #{what}"
  rescue StandardError => e
    fail(what, "#{e.class} #{e.message}")
  end

  def self.fail(what, why)
    @failed = true
    puts "FAIL #{CLIENT} #{what}: #{why.split.join(" ")}"
  end

  def self.done
    exit(@failed ? 1 : 0)
  end
end
