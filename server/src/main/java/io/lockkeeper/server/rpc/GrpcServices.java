package io.lockkeeper.server.rpc;

import io.grpc.BindableService;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.ServerBuilder;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.protobuf.services.ProtoReflectionService;
import io.grpc.protobuf.services.ProtoReflectionServiceV1;
import io.grpc.services.ChannelzService;
import io.lockkeeper.server.coordinator.api.Coordinator;
import io.lockkeeper.server.rpc.call.Access;
import io.lockkeeper.server.rpc.call.AccessRules;
import io.lockkeeper.server.rpc.call.Authentication;
import io.lockkeeper.server.rpc.call.CallAdmission;
import io.lockkeeper.server.rpc.call.CallBudgets;
import io.lockkeeper.server.rpc.call.CallEnd;
import io.lockkeeper.server.rpc.call.CallGuard;
import io.lockkeeper.server.rpc.call.ConnectionAge;
import io.lockkeeper.server.rpc.call.GrpcLimits;
import io.lockkeeper.server.rpc.call.HealthReporter;
import io.lockkeeper.server.rpc.call.OpenStreams;
import io.lockkeeper.server.rpc.call.RefusalCounts;
import io.lockkeeper.server.rpc.call.RpcStats;
import io.lockkeeper.server.rpc.call.Safeguards;
import io.lockkeeper.server.rpc.call.ServerLimits;
import io.lockkeeper.server.rpc.call.SteadyTimer;
import io.lockkeeper.server.rpc.call.Usage;
import io.lockkeeper.server.rpc.forward.Forwarding;
import io.lockkeeper.server.rpc.forward.LeaseOwnerSearches;
import io.lockkeeper.server.rpc.forward.PeerLinks;
import io.lockkeeper.server.rpc.forward.PeerSetup;
import io.lockkeeper.server.rpc.service.AdminCalls;
import io.lockkeeper.server.rpc.service.LeaseCalls;
import io.lockkeeper.server.rpc.service.LockCalls;
import io.lockkeeper.server.rpc.wire.PeerHeaders;
import io.lockkeeper.server.rpc.wire.Refusal;
import io.lockkeeper.server.rpc.wire.Statuses;
import io.lockkeeper.server.security.Right;
import java.io.InputStream;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** All services of the endpoint with the threads that run them, on whatever transport. */
public final class GrpcServices {

  private static final int MAX_CHANNELZ_PAGE = 100;
  private static final long SWEEP_MILLIS = 1_000;

  /** Tools have places of their own, so that health is told when clients have taken all others. */
  private static final int TOOLS_PART = 16;

  private static final Marshaller<InputStream> UNPARSED =
      new Marshaller<>() {
        @Override
        public InputStream stream(InputStream message) {
          return message;
        }

        @Override
        public InputStream parse(InputStream message) {
          return message;
        }
      };

  private static final ServerInterceptor OPERATORS_ONLY =
      new ServerInterceptor() {
        @Override
        public <Q, R> ServerCall.Listener<Q> interceptCall(
            ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
          Access.current().requireAll(Right.ADMIN, "");
          return next.startCall(call, headers);
        }
      };

  private static final long IDLE_ACCOUNTS_SECONDS = 10;

  /** Rejects calls of a peer that are for another coordinator. */
  private record Addressee(String ownId) implements ServerInterceptor {
    @Override
    public <Q, R> ServerCall.Listener<Q> interceptCall(
        ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
      String meant = headers.get(PeerHeaders.COORDINATOR);
      if (meant == null || meant.equals(ownId)) {
        return next.startCall(call, headers);
      }
      Metadata trailers = new Metadata();
      trailers.put(PeerHeaders.COORDINATOR, ownId);
      call.close(
          Status.UNAVAILABLE.withDescription("this is not the coordinator that the call is for"),
          trailers);
      return new ServerCall.Listener<>() {};
    }
  }

  private final Addressee addressee;
  private final GrpcLimits limits;
  private final ConnectionAge age;
  private final OpenStreams streams;
  private final HealthReporter health;
  private final ScheduledExecutorService timer;
  private final ExecutorService calls;
  private final CallGuard ourCalls;
  private final CallGuard toolCalls;
  private final CallBudgets budgets;
  private final RpcStats stats = new RpcStats();
  private final Usage usage = new Usage();
  private final Authentication authentication;
  private final PeerLinks peers;
  private final Forwarding forwarding;
  private final LockCalls lockCalls;
  private final LeaseCalls leaseCalls;
  private final AdminCalls adminCalls;

  /**
   * Prepares.
   *
   * @param setup how the other coordinators are reached
   * @param age how old connections may become
   * @param rules by what callers are let in
   * @param safeguards what is counted and watched
   */
  GrpcServices(
      Coordinator coordinator,
      GrpcLimits limits,
      PeerSetup setup,
      ConnectionAge age,
      AccessRules rules,
      Safeguards safeguards) {
    this(
        coordinator,
        limits,
        setup,
        age,
        rules,
        safeguards,
        callThreads(),
        new SteadyTimer(named("lockkeeper-rpc-timer")));
  }

  /**
   * Prepares, on the caller's threads.
   *
   * @param setup how the other coordinators are reached
   * @param age how old connections may become
   * @param rules by what callers are let in
   * @param safeguards what is counted and watched
   * @param calls the threads for calls; ended with the services
   * @param timer for what is done later; ended with the services
   */
  GrpcServices(
      Coordinator coordinator,
      GrpcLimits limits,
      PeerSetup setup,
      ConnectionAge age,
      AccessRules rules,
      Safeguards safeguards,
      ExecutorService calls,
      ScheduledExecutorService timer) {
    this.addressee = new Addressee(setup.ownId());
    this.limits = limits;
    this.timer = timer;
    this.authentication = new Authentication(rules, usage);
    this.age = age;
    RefusalCounts refusals = safeguards.refusals();
    this.budgets = new CallBudgets(limits.server(), refusals);
    this.ourCalls = guard(limits, 1, refusals);
    this.toolCalls = guard(limits, TOOLS_PART, refusals);
    this.health =
        new HealthReporter(coordinator, () -> safeguards.alarm().impediment(System.nanoTime()));
    this.streams = new OpenStreams(timer);
    this.calls = calls;
    this.peers = new PeerLinks(coordinator, setup, calls, timer, stats);
    this.forwarding =
        new Forwarding(
            new LeaseOwnerSearches(coordinator, setup.limits(), timer),
            peers,
            streams,
            calls,
            stats,
            setup.ownId());
    this.lockCalls = new LockCalls(coordinator, setup.ownId(), limits, streams, timer, stats);
    this.leaseCalls = new LeaseCalls(coordinator, setup.ownId(), limits);
    this.adminCalls = new AdminCalls(coordinator, setup.ownId(), new AdminSurroundings());
  }

  /** What the admin service needs of all this. */
  private final class AdminSurroundings implements AdminCalls.Surroundings {
    @Override
    public boolean serves(String peerId) {
      return peers.serves(peerId);
    }

    @Override
    public int peers() {
      return peers.size();
    }

    @Override
    public void stopAccepting() {
      health.drain("the coordinator is drained, as an operator has asked");
    }

    @Override
    public void sendAway() {
      GrpcServices.this.sendAway("the coordinator was drained", limits.resumeAfter());
    }
  }

  /** Makes a guard for calls that may be so large a part of all. */
  private CallGuard guard(GrpcLimits limits, int part, RefusalCounts refusals) {
    ServerLimits server = limits.server();
    return new CallGuard(
        new CallAdmission(
            server.calls() / part,
            server.addressCalls() / part,
            limits.maxMetadataBytes(),
            limits.openTimeout(),
            refusals),
        timer,
        stats);
  }

  // No handler blocks. What queues here is one task for each call with work, and calls are capped.
  private static ExecutorService callThreads() {
    int threads = Math.max(4, 2 * Runtime.getRuntime().availableProcessors());
    return new ThreadPoolExecutor(
        threads,
        threads,
        0,
        TimeUnit.SECONDS,
        new LinkedBlockingQueue<>(),
        named("lockkeeper-rpc"),
        // Only once all is over.
        new ThreadPoolExecutor.DiscardPolicy());
  }

  private static ThreadFactory named(String name) {
    AtomicInteger number = new AtomicInteger();
    return task -> {
      Thread thread = new Thread(task, name + "-" + number.incrementAndGet());
      thread.setDaemon(true);
      return thread;
    };
  }

  /** Adds the services to a server. */
  ServerBuilder<?> addTo(ServerBuilder<?> server) {
    // No handler blocks: each runs on the thread that read its request, and wakes no other.
    server.directExecutor();
    server.addTransportFilter(age);
    server.addStreamTracerFactory(CallEnd.factory(budgets));
    for (BindableService service : List.of(lockCalls, leaseCalls, adminCalls)) {
      // The last is the first to see a call.
      server.addService(
          guarded(ServerInterceptors.intercept(service, forwarding, authentication), ourCalls));
    }
    // Whoever looks at health may be a balancer, or a probe, that has no identity.
    server.addService(guarded(health.service().bindService(), toolCalls));
    for (BindableService reflection : reflection()) {
      server.addService(
          guarded(
              ServerInterceptors.intercept(reflection, new ReflectionAnswers(), authentication),
              toolCalls));
    }
    // It shows who is connected, and from where.
    server.addService(
        guarded(
            ServerInterceptors.intercept(channelz(), OPERATORS_ONLY, authentication), toolCalls));
    return server;
  }

  @SuppressWarnings("deprecation")
  private static BindableService channelz() {
    return ChannelzService.newInstance(MAX_CHANNELZ_PAGE);
  }

  // Tools of before 2023 ask for the alpha of reflection only.
  @SuppressWarnings("deprecation")
  private static List<BindableService> reflection() {
    return List.of(ProtoReflectionServiceV1.newInstance(), ProtoReflectionService.newInstance());
  }

  /**
   * Parses requests inside the guard: gRPC would log a stack trace for each one that does not
   * parse.
   */
  private ServerServiceDefinition guarded(ServerServiceDefinition service, CallGuard guard) {
    return ServerInterceptors.intercept(
        ServerInterceptors.useMarshalledMessages(service, UNPARSED), addressee, guard);
  }

  /** Starts to report health. */
  void start() {
    health.update();
    long millis = limits.healthInterval().toMillis();
    var unused =
        timer.scheduleWithFixedDelay(health::update, millis, millis, TimeUnit.MILLISECONDS);
    var unusedIdle =
        timer.scheduleWithFixedDelay(
            usage::forgetIdle, IDLE_ACCOUNTS_SECONDS, IDLE_ACCOUNTS_SECONDS, TimeUnit.SECONDS);
    var unusedToo =
        timer.scheduleWithFixedDelay(
            this::endOverdueCalls, SWEEP_MILLIS, SWEEP_MILLIS, TimeUnit.MILLISECONDS);
    var unusedBeat =
        timer.scheduleWithFixedDelay(this::beat, SWEEP_MILLIS, SWEEP_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** Has streams that are quiet send heartbeats; called once a second. */
  void beat() {
    streams.beat();
  }

  private void endOverdueCalls() {
    long now = System.nanoTime();
    ourCalls.endOverdue(now);
    toolCalls.endOverdue(now);
  }

  /** Begins to watch the other coordinators. Called once the coordinator runs. */
  void meetPeers() {
    peers.start();
  }

  /** Returns the links to the other coordinators. */
  public PeerLinks peers() {
    return peers;
  }

  /** Returns what was counted so far. */
  RpcStats stats() {
    return stats;
  }

  /** Tells those who look at health that nothing more should come here. */
  void drain() {
    health.stop();
  }

  /**
   * Tells all clients that the endpoint stops, and ends their streams. Calls under way may finish.
   */
  public void goAway(String reason) {
    health.stop();
    streams.goAway(draining(reason));
    // Whoever watches health has heard, and would wait for ever.
    toolCalls.endAll(draining(reason));
  }

  private Refusal draining(String reason) {
    return Statuses.draining(reason, limits.resumeAfter());
  }

  /** Tells the clients whose streams are open to come again, and ends those streams. */
  void sendAway(String reason, Duration resumeAfter) {
    streams.sendAway(Statuses.draining(reason, resumeAfter));
  }

  /** Ends the calls that are still under way. */
  void endCalls(String reason) {
    ourCalls.endAll(draining(reason));
  }

  /** Returns how many calls are open. */
  int openCalls() {
    return ourCalls.openCalls() + toolCalls.openCalls();
  }

  /** Returns how many streams are open. */
  public int openStreams() {
    return streams.size();
  }

  /** Ends the threads. */
  void stopThreads() {
    peers.close();
    timer.shutdownNow();
    calls.shutdown();
  }
}
