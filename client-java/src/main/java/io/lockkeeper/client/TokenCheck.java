package io.lockkeeper.client;

import java.util.List;

/**
 * What is known of a fencing token. True at some moment after the question was asked; it may have
 * changed since.
 *
 * @param current whether the token is that of a current holder
 * @param currentTokens the tokens of the current holders, at most 16
 */
public record TokenCheck(boolean current, List<Long> currentTokens) {

  /** Copies the list. */
  public TokenCheck {
    currentTokens = List.copyOf(currentTokens);
  }
}
