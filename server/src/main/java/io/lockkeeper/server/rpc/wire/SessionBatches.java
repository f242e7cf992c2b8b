package io.lockkeeper.server.rpc.wire;

import io.lockkeeper.v1.SessionRequest;
import io.lockkeeper.v1.SessionRequest.RequestCase;
import io.lockkeeper.v1.SessionRequestBatch;
import io.lockkeeper.v1.SessionResponse;
import io.lockkeeper.v1.SessionResponseBatch;
import java.util.List;

/** Several messages of a session stream in one. */
public final class SessionBatches {

  /** How many requests one batch may have. */
  public static final int MAX_REQUESTS = 256;

  private SessionBatches() {}

  /** Returns the requests of a batch; throws if it is none that a client may send. */
  public static List<SessionRequest> toRequests(SessionRequestBatch batch) {
    List<SessionRequest> requests = batch.getRequestsList();
    if (requests.isEmpty() || requests.size() > MAX_REQUESTS) {
      throw Fields.invalid(
          "requests", "must be 1 to " + MAX_REQUESTS + " requests, are " + requests.size());
    }
    for (int i = 0; i < requests.size(); i++) {
      if (requests.get(i).getRequestCase() == RequestCase.BATCH) {
        throw Fields.invalid("requests[" + i + "]", "must not be a batch itself");
      }
    }
    return requests;
  }

  /** Puts responses into one. */
  public static SessionResponse pack(List<SessionResponse> responses) {
    return SessionResponse.newBuilder()
        .setEpoch(responses.get(0).getEpoch())
        .setBatch(SessionResponseBatch.newBuilder().addAllResponses(responses))
        .build();
  }
}
