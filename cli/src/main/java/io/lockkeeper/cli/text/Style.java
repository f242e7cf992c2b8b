package io.lockkeeper.cli.text;

/**
 * Makes words stand out on a terminal.
 *
 * @param on whether it does; else words stay as they are
 */
public record Style(boolean on) {

  /** Leaves words as they are. */
  public static final Style PLAIN = new Style(false);

  private static final String ESCAPE = "\u001b[";

  /** Returns it bold. */
  public String bold(String text) {
    return with("1", text);
  }

  /** Returns it pale. */
  public String dim(String text) {
    return with("2", text);
  }

  /** Returns it as what is not well. */
  public String bad(String text) {
    return with("31", text);
  }

  /** Returns it as what is well. */
  public String good(String text) {
    return with("32", text);
  }

  /** Returns it as what one may want to look at. */
  public String notable(String text) {
    return with("33", text);
  }

  private String with(String code, String text) {
    return on ? ESCAPE + code + "m" + text + ESCAPE + "0m" : text;
  }
}
