package io.lockkeeper.client;

import io.lockkeeper.v1.SessionOpened;

/** The client's lease: what is needed to resume it, and until when it may be relied upon. */
final class Lease {

  private final String id;
  private final String secret;
  private final String tag;
  private final long ttlNanos;
  private final Validity validity;

  Lease(SessionOpened opened, long openSentAtNanos) {
    this.id = opened.getLeaseId();
    this.secret = opened.getLeaseSecret();
    this.tag = opened.getLeaseTag();
    this.ttlNanos = Protos.toNanos(opened.getTtl());
    this.validity = new Validity(openSentAtNanos, Protos.toNanos(opened.getValidFor()));
  }

  String id() {
    return id;
  }

  String secret() {
    return secret;
  }

  String tag() {
    return tag;
  }

  long ttlNanos() {
    return ttlNanos;
  }

  Validity validity() {
    return validity;
  }
}
