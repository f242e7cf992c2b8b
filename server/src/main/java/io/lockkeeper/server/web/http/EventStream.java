package io.lockkeeper.server.web.http;

/**
 * An answer that comes in pieces for as long as there is something to tell, or the visitor stays.
 *
 * @param contentType the type of the body
 * @param source what tells
 */
public record EventStream(String contentType, Source source) implements Response {

  /** Where the pieces come from. All methods are called on the connection's thread. */
  public interface Source {
    /** Begins to tell: as long as the sink has room, and after that each time it has room again. */
    void start(Sink sink);

    /** There is room again. */
    void onRoom();

    /** The visitor has gone; nothing more is taken. Called also if {@link #start} never was. */
    void onGone();
  }

  /** Where the pieces go. To be used on the connection's thread. */
  public interface Sink {
    /**
     * Sends a piece. A visitor who has not read earlier ones is cut off where too much is unread on
     * all streams together.
     */
    void send(String piece);

    /** Returns whether the next piece would not have to wait for what was sent before. */
    boolean hasRoom();

    /** Ends the answer. */
    void end();
  }
}
