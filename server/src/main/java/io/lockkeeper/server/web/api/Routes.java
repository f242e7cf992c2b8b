package io.lockkeeper.server.web.api;

import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServiceDescriptor;
import io.lockkeeper.v1.AdminServiceGrpc;
import io.lockkeeper.v1.LeaseServiceGrpc;
import io.lockkeeper.v1.LockServiceGrpc;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Which call is reached by which path: each by {@code POST} to its own name, such as {@code
 * /v1/force-release}, and what only reads also by {@code GET}. A call that the client sends a
 * stream to is not reached at all.
 */
final class Routes {

  /** What all paths of the API begin with. */
  static final String BASE = "/v1/";

  private static final List<Route> ALL = all();

  private Routes() {}

  /** Returns all routes. */
  static List<Route> list() {
    return ALL;
  }

  /** Returns the route of a path, whole or with a rest. */
  static Optional<Route> at(boolean post, String path) {
    return ALL.stream()
        .filter(route -> route.post() == post)
        .filter(
            route ->
                route.pathField().isEmpty()
                    ? path.equals(route.path())
                    : path.startsWith(route.path()) && path.length() > route.path().length())
        .findFirst();
  }

  private static List<Route> all() {
    List<Route> routes = new ArrayList<>();
    routes.add(get("locks", "", LockServiceGrpc.getListLocksMethod()));
    routes.add(get("locks/", "name", LockServiceGrpc.getGetLockMethod()));
    routes.add(get("history/", "name", LockServiceGrpc.getGetHistoryMethod()));
    routes.add(get("watch", "", LockServiceGrpc.getWatchMethod()));
    routes.add(get("leases", "", LeaseServiceGrpc.getListLeasesMethod()));
    routes.add(get("leases/", "leaseId", LeaseServiceGrpc.getGetLeaseMethod()));
    routes.add(get("whoami", "", LockServiceGrpc.getWhoAmIMethod()));
    routes.add(get("cluster", "", AdminServiceGrpc.getGetClusterMethod()));
    for (ServiceDescriptor service :
        List.of(
            LockServiceGrpc.getServiceDescriptor(),
            LeaseServiceGrpc.getServiceDescriptor(),
            AdminServiceGrpc.getServiceDescriptor())) {
      for (MethodDescriptor<?, ?> call : service.getMethods()) {
        if (call.getType() == MethodType.UNARY || call.getType() == MethodType.SERVER_STREAMING) {
          routes.add(new Route(true, BASE + nameOf(call), "", call));
        }
      }
    }
    return List.copyOf(routes);
  }

  private static Route get(String path, String pathField, MethodDescriptor<?, ?> call) {
    return new Route(false, BASE + path, pathField, call);
  }

  /** The admin service closes leases of others; a client closes its own. */
  private static String nameOf(MethodDescriptor<?, ?> call) {
    if (call.equals(AdminServiceGrpc.getCloseLeaseMethod())) {
      return "force-close-lease";
    }
    String name = String.valueOf(call.getBareMethodName());
    return name.replaceAll("(?<=[a-z])(?=[A-Z])", "-").toLowerCase(Locale.ROOT);
  }
}
