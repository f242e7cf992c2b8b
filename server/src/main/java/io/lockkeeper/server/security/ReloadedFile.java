package io.lockkeeper.server.security;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a file says, read again when its content changes. A wrong content is not taken: what was
 * read before stays in force, the log says so once for each content, and {@link #lastError} until a
 * good one comes.
 *
 * <p>Each poll reads the whole file, through links: such files are small, and neither a time of
 * change nor a size shows every change. A new content is taken when two polls in a row have found
 * it, with some time in between, so that a file that is being written is never taken by half.
 *
 * <p>For any thread; {@link #poll} is for one that may wait: a timer, every two seconds, or whoever
 * wants the file read at once.
 */
public final class ReloadedFile<T> {

  /** The largest file that is read, in bytes: what the parser of YAML takes. */
  public static final int MAX_BYTES = 3 << 20;

  private static final Logger LOG = LoggerFactory.getLogger(ReloadedFile.class);

  private final Path file;
  private final Parser<T> parser;
  private final SpacedLook spaced = new SpacedLook(this::look);
  private byte[] taken;
  private byte[] seen;
  private byte @Nullable [] refused;
  private volatile T value;
  private volatile @Nullable String error;

  /** Makes a value of a file's content. */
  @FunctionalInterface
  public interface Parser<T> {

    /**
     * Returns the value.
     *
     * @throws IllegalArgumentException if the content is wrong; the message says what must be
     *     changed
     */
    T parse(byte[] content);
  }

  /**
   * Reads the file.
   *
   * @throws IllegalArgumentException if it cannot be read or is wrong; the message begins with its
   *     name
   */
  public ReloadedFile(Path file, Parser<T> parser) {
    this.file = file;
    this.parser = parser;
    try {
      taken = read();
      value = parser.parse(taken);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(file + ": " + e.getMessage(), e);
    }
    seen = taken;
  }

  /** Returns what the file says, or said when it was last good. */
  public T get() {
    return value;
  }

  /** Returns why the file, as it is now, is not in force. */
  public Optional<String> lastError() {
    return Optional.ofNullable(error);
  }

  /** Looks whether the file has changed, some time after the last look, whoever made that. */
  public void poll() {
    spaced.run();
  }

  /** Looks at once; returns whether a new value is in force. */
  synchronized boolean look() {
    byte[] content;
    try {
      content = read();
    } catch (IllegalArgumentException e) {
      String why = String.valueOf(e.getMessage());
      if (!why.equals(error)) {
        refused = null;
        refuse(why);
      }
      return false;
    }
    boolean settled = Arrays.equals(content, seen);
    seen = content;
    if (!settled || (error != null && Arrays.equals(content, refused))) {
      return false;
    }
    if (Arrays.equals(content, taken)) {
      if (error != null) {
        accept();
      }
      return false;
    }
    return take(content);
  }

  private boolean take(byte[] content) {
    try {
      value = parser.parse(content);
    } catch (RuntimeException e) {
      // Whatever it is: a timer that has thrown would never look again.
      refused = content;
      refuse(e instanceof IllegalArgumentException ? String.valueOf(e.getMessage()) : e.toString());
      return false;
    }
    taken = content;
    accept();
    return true;
  }

  private void accept() {
    error = null;
    refused = null;
    LOG.atInfo().addKeyValue("file", file).log("the file was read again and is in force");
  }

  private void refuse(String why) {
    error = why;
    LOG.atError()
        .addKeyValue("file", file)
        .addKeyValue("error", why)
        .log("the file is not taken; what was read before stays in force");
  }

  private byte[] read() {
    try {
      return RegularFile.read(file, MAX_BYTES);
    } catch (NoSuchFileException e) {
      throw new IllegalArgumentException("does not exist", e);
    } catch (AccessDeniedException e) {
      throw new IllegalArgumentException("may not be read", e);
    } catch (IOException e) {
      throw new IllegalArgumentException("cannot be read: " + e.getMessage(), e);
    }
  }
}
