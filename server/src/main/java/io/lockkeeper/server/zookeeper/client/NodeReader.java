package io.lockkeeper.server.zookeeper.client;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntConsumer;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.OpResult.ErrorResult;
import org.apache.zookeeper.OpResult.GetChildrenResult;
import org.apache.zookeeper.OpResult.GetDataResult;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Reads many nodes over one handle, a bounded number at a time. Answers are told on the store's
 * thread, each at the place of its reply among the events of the connection. Ends once: when
 * everything that was asked for is answered, or by the first failure, after which nothing more is
 * told.
 */
public final class NodeReader {

  private static final int MAX_OUTSTANDING = 256;

  // Replies that carry several nodes, at a time.
  private static final int MAX_GROUPS = 8;

  private static final int RECORDS_OF_A_REPLY = 64;

  // Anybody's node may hold 1 MiB: so much at a time, at most.
  private static final int MAX_READS = 32;

  /** The most that a record of ours has in bytes, with much room. */
  public static final int MAX_RECORD_BYTES = 16 << 10;

  private final StoreContext context;
  private final Handle handle;
  private final Runnable done;
  private final IntConsumer failed;
  private final Deque<Runnable> waiting = new ArrayDeque<>();
  private final Deque<Runnable> waitingReads = new ArrayDeque<>();
  private final Deque<Runnable> waitingGroups = new ArrayDeque<>();
  private boolean tolerant;
  private int outstanding;
  private int reads;
  private int groups;
  private boolean over;

  /** A node as it was read. */
  public static final class Node {

    private final String path;
    private final byte[] data;
    private final Stat stat;

    private Node(String path, byte @Nullable [] data, Stat stat) {
      this.path = path;
      this.data = data == null ? new byte[0] : data;
      this.stat = stat;
    }

    public String path() {
      return path;
    }

    /** Returns what it holds, not a copy; nothing is an empty array. */
    public byte[] data() {
      return data;
    }

    public Stat stat() {
      return stat;
    }
  }

  /** Hears what became of one read. */
  public interface ReadListener {
    /**
     * Hears it, on the store's thread.
     *
     * @param rc ZooKeeper's result code
     * @param node the node, if the code is OK
     */
    void onRead(int rc, Optional<Node> node);
  }

  /**
   * Prepares.
   *
   * @param done runs when everything is answered
   * @param failed hears ZooKeeper's result code of the first failure
   */
  public NodeReader(StoreContext context, Handle handle, Runnable done, IntConsumer failed) {
    this.context = context;
    this.handle = handle;
    this.done = done;
    this.failed = failed;
  }

  /** Makes nodes that we may not read as good as absent, and no failure; returns this reader. */
  public NodeReader tolerant() {
    tolerant = true;
    return this;
  }

  /** Reads one node, whatever comes of it. */
  public static void readOnce(
      StoreContext context, Handle handle, String path, ReadListener answer) {
    handle.getData(
        path,
        false,
        (rc, asked, ctx, data, stat) ->
            context.executor().execute(() -> answer.onRead(rc, node(rc, path, data, stat))),
        null);
  }

  private static Optional<Node> node(
      int rc, String path, byte @Nullable [] data, @Nullable Stat stat) {
    return rc == Code.OK.intValue() && stat != null
        ? Optional.of(new Node(path, data, stat))
        : Optional.empty();
  }

  /** Reads a node; {@code then} gets nothing if there is none, or none that we may read. */
  public void read(String path, Consumer<Optional<Node>> then) {
    read(path, (rc, node) -> then.accept(node));
  }

  private void read(String path, ReadListener then) {
    waitingReads.add(
        () ->
            readOnce(
                context,
                handle,
                path,
                (rc, node) -> {
                  reads--;
                  onAnswer(path, rc, () -> then.onRead(rc, node));
                }));
    proceed();
  }

  /**
   * Reads a record, unless it is known: looks first what there is. What is too large for a record,
   * or closed to us, is told without its data, and so is what is known by its last change.
   *
   * @param knownMzxid the transaction of the last change that is known already; zero if none is
   * @param then gets nothing if there is no such node
   */
  public void readRecord(String path, long knownMzxid, Consumer<Optional<Node>> then) {
    ask(
        () ->
            handle.exists(
                path,
                false,
                (rc, asked, ctx, stat) ->
                    context
                        .executor()
                        .execute(
                            () -> onAnswer(path, rc, () -> onStat(path, knownMzxid, stat, then))),
                null));
  }

  private void onStat(
      String path, long knownMzxid, @Nullable Stat stat, Consumer<Optional<Node>> then) {
    if (stat == null) {
      then.accept(Optional.empty());
    } else if (stat.getMzxid() == knownMzxid || stat.getDataLength() > MAX_RECORD_BYTES) {
      then.accept(Optional.of(new Node(path, null, stat)));
    } else {
      Node closed = new Node(path, null, stat);
      read(
          path,
          (rc, node) -> then.accept(rc == Code.NOAUTH.intValue() ? Optional.of(closed) : node));
    }
  }

  /**
   * Lists the children of a node; {@code then} gets nothing if there is no such node, or none that
   * we may read.
   */
  public void list(String path, boolean watch, Consumer<Optional<List<String>>> then) {
    ask(
        () ->
            handle.getChildren(
                path,
                watch,
                (rc, asked, ctx, names) ->
                    context
                        .executor()
                        .execute(() -> onListed(path, rc, Optional.ofNullable(names), then)),
                null));
  }

  /** Lists the children of a node that may have very many, as {@link #list} does. */
  public void listMany(String path, Consumer<Optional<List<String>>> then) {
    ask(
        () ->
            handle.listMany(
                path,
                (rc, asked, ctx, names) ->
                    context
                        .executor()
                        .execute(() -> onListed(path, rc, Optional.ofNullable(names), then))));
  }

  private void onListed(
      String path, int rc, Optional<List<String>> names, Consumer<Optional<List<String>>> then) {
    context.problems().listed(path, rc != Code.NOAUTH.intValue());
    onAnswer(path, rc, () -> then.accept(names));
  }

  /**
   * Lists the children of many nodes, some with each reply: it costs ZooKeeper a write to the
   * socket and the waking of some threads, whatever it carries. A reply that is longer than the
   * handle takes ends its connection.
   *
   * @param nodes what stands for them
   * @param together how many with each reply
   * @param path says their paths
   * @param then hears of each; of no children where {@link #list} tells nothing
   */
  public <T> void listEach(
      List<T> nodes, int together, Function<T, String> path, BiConsumer<T, List<String>> then) {
    ask(
        nodes,
        together,
        node -> Op.getChildren(path.apply(node)),
        (node, result) -> {
          String of = path.apply(node);
          int rc = codeOf(result);
          context.problems().listed(of, rc != Code.NOAUTH.intValue());
          List<String> names =
              result instanceof GetChildrenResult found ? found.getChildren() : List.of();
          take(of, rc, () -> then.accept(node, names));
        });
  }

  /**
   * Reads many records of ours, some with each reply, as {@link #listEach} lists; {@code then}
   * hears of each what {@link #read} tells.
   */
  public void readEach(List<String> paths, Consumer<Optional<Node>> then) {
    ask(
        paths,
        RECORDS_OF_A_REPLY,
        Op::getData,
        (path, result) -> {
          Optional<Node> node =
              result instanceof GetDataResult found
                  ? Optional.of(new Node(path, found.getData(), found.getStat()))
                  : Optional.empty();
          take(path, codeOf(result), () -> then.accept(node));
        });
  }

  private <T> void ask(
      List<T> nodes, int together, Function<T, Op> read, BiConsumer<T, OpResult> then) {
    for (int i = 0; i < nodes.size(); i += together) {
      List<T> group = nodes.subList(i, Math.min(nodes.size(), i + together));
      waitingGroups.add(() -> send(group, read, then));
    }
    proceed();
  }

  private <T> void send(List<T> group, Function<T, Op> read, BiConsumer<T, OpResult> then) {
    handle.readTogether(
        group.stream().map(read).toList(),
        (rc, asked, ctx, answered) -> {
          List<OpResult> results = answered == null ? List.of() : answered;
          context
              .executor()
              .execute(
                  () -> {
                    outstanding--;
                    groups--;
                    onGroup(group, rc, results, then);
                    proceed();
                  });
        });
  }

  private <T> void onGroup(
      List<T> group, int rc, List<OpResult> results, BiConsumer<T, OpResult> then) {
    if (results.size() != group.size()) {
      fail(rc == Code.OK.intValue() ? Code.MARSHALLINGERROR.intValue() : rc);
      return;
    }
    for (int i = 0; i < group.size() && !over; i++) {
      then.accept(group.get(i), results.get(i));
    }
  }

  private static int codeOf(OpResult result) {
    return result instanceof ErrorResult error ? error.getErr() : Code.OK.intValue();
  }

  /** Lists the ephemeral nodes of the handle's session below a path. */
  public void listOwned(String path, Consumer<List<String>> then) {
    ask(
        () ->
            handle.getEphemerals(
                path,
                (rc, ctx, found) ->
                    context
                        .executor()
                        .execute(
                            () ->
                                onAnswer(
                                    path,
                                    rc,
                                    () -> then.accept(found == null ? List.of() : found))),
                null));
  }

  private void ask(Runnable send) {
    waiting.add(send);
    proceed();
  }

  private void onAnswer(String path, int rc, Runnable next) {
    outstanding--;
    take(path, rc, next);
    proceed();
  }

  private void take(String path, int rc, Runnable next) {
    if (over) {
      return;
    }
    boolean closed = tolerant && rc == Code.NOAUTH.intValue();
    if (closed) {
      context.problems().foreign(path, "its access list does not let us read it");
    }
    if (closed || rc == Code.OK.intValue() || rc == Code.NONODE.intValue()) {
      next.run();
    } else {
      fail(rc);
    }
  }

  private void proceed() {
    while (!over && outstanding < MAX_OUTSTANDING && !waiting.isEmpty()) {
      outstanding++;
      waiting.removeFirst().run();
    }
    while (!over && reads < MAX_READS && !waitingReads.isEmpty()) {
      outstanding++;
      reads++;
      waitingReads.removeFirst().run();
    }
    while (!over && groups < MAX_GROUPS && !waitingGroups.isEmpty()) {
      outstanding++;
      groups++;
      waitingGroups.removeFirst().run();
    }
    if (!over && outstanding == 0) {
      over = true;
      done.run();
    }
  }

  /** Ends the reading as a failure, as if ZooKeeper had answered so. */
  public void fail(int rc) {
    if (!over) {
      cancel();
      failed.accept(rc);
    }
  }

  /** Tells nothing more. */
  public void cancel() {
    over = true;
    waiting.clear();
    waitingReads.clear();
    waitingGroups.clear();
  }
}
