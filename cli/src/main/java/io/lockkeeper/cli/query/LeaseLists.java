package io.lockkeeper.cli.query;

import io.grpc.Channel;
import io.lockkeeper.cli.call.Servers;
import io.lockkeeper.v1.LeaseServiceGrpc;
import io.lockkeeper.v1.LeaseState;
import io.lockkeeper.v1.ListLeasesRequest;
import io.lockkeeper.v1.ListLeasesResponse;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Reads the leases that servers serve: each knows its own. */
final class LeaseLists {

  private static final int PAGE = 1_000;
  private static final int MAX_PAGES = 100;
  private static final long ANSWER_SECONDS = 10;

  private LeaseLists() {}

  /** Returns what each server has listed, or why it has not, in their order. */
  static List<Servers.Answer<List<LeaseState>>> read(Servers servers) {
    return servers.each(LeaseLists::ofOne);
  }

  /** Returns the leases of all servers that have listed theirs, ordered by tag. */
  static List<LeaseState> joined(List<Servers.Answer<List<LeaseState>>> answers) {
    return answers.stream()
        .flatMap(answer -> answer.answer().stream())
        .flatMap(List::stream)
        .sorted(Comparator.comparing(LeaseState::getLeaseTag))
        .toList();
  }

  private static List<LeaseState> ofOne(Channel channel) {
    List<LeaseState> leases = new ArrayList<>();
    String token = "";
    for (int page = 0; page < MAX_PAGES; page++) {
      ListLeasesResponse response =
          LeaseServiceGrpc.newBlockingStub(channel)
              .withDeadlineAfter(ANSWER_SECONDS, TimeUnit.SECONDS)
              .listLeases(
                  ListLeasesRequest.newBuilder().setPageSize(PAGE).setPageToken(token).build());
      leases.addAll(response.getLeasesList());
      token = response.getNextPageToken();
      if (token.isEmpty()) {
        break;
      }
    }
    return leases;
  }
}
