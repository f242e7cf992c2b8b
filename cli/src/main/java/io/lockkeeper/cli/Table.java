package io.lockkeeper.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;

/** Prints rows in columns as wide as their widest cell. */
final class Table {

  private final List<List<String>> rows = new ArrayList<>();

  /** Starts with the header. */
  Table(String... header) {
    rows.add(List.of(header));
  }

  /** Adds a row with as many cells as the header has. */
  void row(String... cells) {
    rows.add(List.of(cells));
  }

  /** Prints it all, each line after {@code indent}. */
  void print(PrintWriter out, String indent) {
    int columns = rows.get(0).size();
    int[] widths = new int[columns];
    for (List<String> row : rows) {
      for (int i = 0; i < columns; i++) {
        widths[i] = Math.max(widths[i], width(row.get(i)));
      }
    }
    for (List<String> row : rows) {
      StringBuilder line = new StringBuilder(indent);
      for (int i = 0; i < columns; i++) {
        String cell = row.get(i);
        line.append(cell);
        if (i < columns - 1) {
          line.append(" ".repeat(widths[i] - width(cell) + 2));
        }
      }
      out.println(line.toString().stripTrailing());
    }
  }

  private static int width(String cell) {
    return cell.codePointCount(0, cell.length());
  }
}
