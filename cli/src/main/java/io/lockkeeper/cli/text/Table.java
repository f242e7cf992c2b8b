package io.lockkeeper.cli.text;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;

/** Prints rows in columns as wide as their widest cell, but for cells that are very wide. */
public final class Table {

  /** What is wider pushes the rest of its row aside, and of no other. */
  private static final int MAX_WIDTH = 40;

  private final List<List<String>> rows = new ArrayList<>();
  private final Style style;

  /** Starts with the header. */
  public Table(Style style, String... header) {
    this.style = style;
    rows.add(List.of(header));
  }

  /** Adds a row with as many cells as the header has. */
  public void row(String... cells) {
    rows.add(List.of(cells));
  }

  /** Prints an empty line, all rows, and how many more there are; nothing if there are no rows. */
  public void printPart(PrintWriter out, int more) {
    if (rows.size() == 1 && more <= 0) {
      return;
    }
    out.println();
    print(out);
    if (more > 0) {
      out.println("and " + more + " more");
    }
  }

  /** Prints all rows. */
  public void print(PrintWriter out) {
    int columns = rows.get(0).size();
    int[] widths = new int[columns];
    for (List<String> row : rows) {
      for (int i = 0; i < columns; i++) {
        widths[i] = Math.max(widths[i], Math.min(MAX_WIDTH, width(row.get(i))));
      }
    }
    for (List<String> row : rows) {
      StringBuilder line = new StringBuilder();
      for (int i = 0; i < columns; i++) {
        String cell = row.get(i);
        line.append(cell);
        if (i < columns - 1) {
          line.append(" ".repeat(Math.max(0, widths[i] - width(cell)) + 2));
        }
      }
      String text = line.toString().stripTrailing();
      out.println(row == rows.get(0) ? style.bold(text) : text);
    }
  }

  private static int width(String cell) {
    return cell.codePointCount(0, cell.length());
  }
}
