package io.lockkeeper.bench.runner;

import java.util.EnumSet;
import java.util.Set;

/** A row that measures Lockkeeper only. */
abstract class OwnRow implements Row {

  private final String label;

  OwnRow(String label) {
    this.label = label;
  }

  @Override
  public final String label() {
    return label;
  }

  @Override
  public final Set<Subject> subjects(Set<Subject> available) {
    Set<Subject> own = EnumSet.of(Subject.LOCKKEEPER);
    own.retainAll(available);
    return own;
  }
}
