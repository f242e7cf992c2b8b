package io.lockkeeper.client;

/** What one acquisition says to servers about itself. On the client's loop only. */
final class Wire {

  private final Acquisition acquisition;
  private final Surroundings around;
  private final Link link;
  private final long askedAtNanos;
  private boolean repeating;

  Wire(Acquisition acquisition, Surroundings around, Link link) {
    this.acquisition = acquisition;
    this.around = around;
    this.link = link;
    this.askedAtNanos = around.loop().nanos();
  }

  /** From now on a server may know something else, or more, than was said to it. */
  void repeat() {
    repeating = true;
  }

  /** Returns whether another server may know of it. */
  boolean isRepeating() {
    return repeating;
  }

  /** Asks for the locks, for as long as the wait limit leaves; says false if no stream is open. */
  boolean ask() {
    long waited = around.loop().nanos() - askedAtNanos;
    return link.send(
        Requests.acquire(
            acquisition.request(), acquisition.requestId(), around.settings().holder(), waited));
  }

  /** Tells what is held. */
  void hold(Tenure tenure) {
    boolean unused = link.send(tenure.repeated());
  }

  /** Releases: what was granted, or, where a server may have granted it anew, whatever it has. */
  void release(Tenure tenure) {
    boolean unused =
        link.send(Requests.release(acquisition.requestId(), repeating ? 0 : tenure.fencingToken()));
  }
}
