package io.lockkeeper.howto;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * What the locks protect: a row for each order, and in it the highest token that has written it.
 */
final class Orders {

  private record Row(String state, long token) {}

  private static final Row NEW = new Row("new", 0);

  private final ConcurrentMap<String, Row> rows = new ConcurrentHashMap<>();

  String state(String id) {
    return rows.getOrDefault(id, NEW).state();
  }

  /** Writes the row, unless a later holder of its lock has written it before. */
  void write(String id, String state, long fencingToken) {
    rows.merge(
        id,
        new Row(state, fencingToken),
        (row, written) -> {
          if (written.token() < row.token()) {
            throw new IllegalStateException(
                "order %s was written with token %d, so %d is too old"
                    .formatted(id, row.token(), written.token()));
          }
          return written;
        });
  }
}
