package io.lockkeeper.server.security;

import java.util.List;
import java.util.Optional;

/**
 * Why the policy decides as it does.
 *
 * @param rule the first rule that permits it, such as {@code rule 2 (shop)}; empty: it is denied
 * @param near where it is denied: each rule that means the identity, and what it lacks
 */
public record Explanation(Optional<String> rule, List<String> near) {

  /** Makes the list unmodifiable. */
  public Explanation {
    near = List.copyOf(near);
  }

  /** Returns whether it is permitted. */
  public boolean isPermitted() {
    return rule.isPresent();
  }
}
