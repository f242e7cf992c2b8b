package io.lockkeeper.integration.docs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A page of the documentation, in Markdown.
 *
 * @param name its path below the root of the tree, with slashes
 * @param blocks what stands between fences, in the page's order
 */
record Page(String name, List<Block> blocks) {

  private static final Pattern FENCE = Pattern.compile("( *)(`{3,})([^`\\s]*)[^`]*");
  private static final Pattern NOT_RUN = Pattern.compile("\\s*<!-- not run:(.*)-->\\s*");

  /**
   * What stands between two fences.
   *
   * @param line the line of the opening fence, the first of the page being 1
   * @param language the word after the fence; empty if there is none
   * @param lines the lines, as far to the left as the fence
   * @param reason why it is neither run nor found in the tree, as the line {@code <!-- not run: the
   *     reason -->} above it says, perhaps with nothing; empty if there is no such line
   */
  record Block(int line, String language, List<String> lines, Optional<String> reason) {}

  /** Returns every page of the tree, ordered by name. */
  static Stream<Page> all() {
    return Tree.files()
        .filter(file -> file.toString().endsWith(".md"))
        .map(file -> parse(Tree.nameOf(file), read(file)))
        .sorted((one, other) -> one.name.compareTo(other.name));
  }

  /** Returns the page that the text is. A fence that is not closed goes on to the end. */
  static Page parse(String name, String text) {
    List<Block> blocks = new ArrayList<>();
    List<String> lines = text.lines().toList();
    String above = "";
    for (int i = 0; i < lines.size(); i++) {
      Matcher fence = FENCE.matcher(lines.get(i));
      if (fence.matches()) {
        int first = i + 1;
        String end = fence.group(2);
        do {
          i++;
        } while (i < lines.size() && !lines.get(i).strip().equals(end));
        List<String> inside =
            lines.subList(first, i).stream()
                .map(line -> withoutIndentation(line, fence.group(1).length()))
                .toList();
        Matcher notRun = NOT_RUN.matcher(above);
        Optional<String> reason =
            notRun.matches() ? Optional.of(notRun.group(1).strip()) : Optional.empty();
        blocks.add(new Block(first, fence.group(3), inside, reason));
        above = "";
      } else if (!lines.get(i).isBlank()) {
        above = lines.get(i);
      }
    }
    return new Page(name, blocks);
  }

  private static String withoutIndentation(String line, int most) {
    int indentation = line.length() - line.stripLeading().length();
    return line.substring(Math.min(most, indentation));
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public String toString() {
    return name;
  }
}
