package io.lockkeeper.server.web;

import io.lockkeeper.server.web.http.Page;
import io.lockkeeper.server.web.http.Request;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Properties;

/**
 * The files of the web page, its libraries included. They are read once from the class path, are
 * the same for everybody and name no lock: what the page shows, a browser asks the API for.
 */
final class PageFiles {

  private static final int OK = 200;
  private static final int NOT_MODIFIED = 304;
  private static final int ETAG_BYTES = 16;
  private static final String FOLDER = "page/";
  private static final List<String> OWN =
      List.of(
          "style.css",
          "app.js",
          "actions.js",
          "api.js",
          "chart.js",
          "cluster.js",
          "contention.js",
          "leases.js",
          "live.js",
          "lock.js",
          "locks.js",
          "parts.js",
          "rows.js",
          "text.js");

  private final Map<String, Page> byPath = new HashMap<>();

  /** Reads the files. */
  PageFiles() {
    byPath.put("/", file(FOLDER + "index.html"));
    for (String name : OWN) {
      byPath.put("/page/" + name, file(FOLDER + name));
    }
    libraries().forEach((name, from) -> byPath.put("/page/lib/" + name, file((String) from)));
  }

  private static Properties libraries() {
    Properties libraries = new Properties();
    try (InputStream file = open(FOLDER + "libraries.properties")) {
      libraries.load(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return libraries;
  }

  private static InputStream open(String resource) {
    return Objects.requireNonNull(PageFiles.class.getResourceAsStream(resource), resource);
  }

  private static Page file(String resource) {
    try (InputStream file = open(resource)) {
      byte[] bytes = file.readAllBytes();
      // Asked for again each time, and answered briefly: a server that was updated is seen at once.
      return new Page(OK, contentType(resource), new String(bytes, StandardCharsets.UTF_8))
          .with("ETag", etag(bytes))
          .with("Cache-Control", "no-cache");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String contentType(String name) {
    return switch (name.substring(name.lastIndexOf('.'))) {
      case ".html" -> "text/html; charset=utf-8";
      case ".css" -> "text/css; charset=utf-8";
      case ".js" -> "text/javascript; charset=utf-8";
      default -> throw new IllegalStateException("no type for " + name);
    };
  }

  private static String etag(byte[] bytes) {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(bytes);
      return '"' + HexFormat.of().formatHex(digest, 0, ETAG_BYTES) + '"';
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Returns whether there is such a file. */
  boolean has(String path) {
    return byPath.containsKey(path);
  }

  /** Returns the file that is asked for, or, to whoever has it already, only that he does. */
  Optional<Page> at(Request request) {
    return Optional.ofNullable(byPath.get(request.path()))
        .map(file -> isKnown(request, file) ? unchanged(file) : file);
  }

  private static boolean isKnown(Request request, Page file) {
    String etag = String.valueOf(file.headers().get("ETag"));
    return Arrays.stream(request.header("If-None-Match").orElse("").split(",", -1))
        .map(String::strip)
        .anyMatch(known -> known.equals("*") || known.replaceFirst("^W/", "").equals(etag));
  }

  private static Page unchanged(Page file) {
    return new Page(NOT_MODIFIED, file.contentType(), "", file.headers());
  }
}
