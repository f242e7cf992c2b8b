package io.lockkeeper.bench.load;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import tools.jackson.databind.json.JsonMapper;

/**
 * Answers questions that come line by line on standard input, for loads that do more than cycles:
 * each line is a word and its arguments, each answer a line of JSON.
 */
public final class Conversation {

  /** What every answer begins with. */
  public static final String ANSWER = LoadProgram.MARK + "answer ";

  private static final JsonMapper JSON = JsonMapper.shared();

  private Conversation() {}

  /** Knows what to do. */
  public interface Host {
    /** Does what a word says, and returns what is answered, as JSON. */
    Object answer(String word, List<String> arguments) throws Exception;
  }

  /** Answers until standard input ends, and ends the JVM with it, or with the first failure. */
  public static void run(Host host) throws IOException {
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    say(LoadProgram.READY);
    try {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        List<String> words = List.of(line.split(" ", -1));
        say(
            ANSWER
                + JSON.writeValueAsString(
                    host.answer(words.get(0), words.subList(1, words.size()))));
      }
    } catch (Exception e) {
      e.printStackTrace();
      Runtime.getRuntime().halt(1);
    }
    Runtime.getRuntime().halt(0);
  }

  private static void say(String line) {
    System.out.println(line);
    System.out.flush();
  }
}
