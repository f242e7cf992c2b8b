package io.lockkeeper.server.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.lockkeeper.server.rpc.call.AccessRules;
import io.lockkeeper.server.security.Limits;
import io.lockkeeper.server.security.Right;
import io.lockkeeper.v1.CredentialKind;
import io.lockkeeper.v1.WhoAmIRequest;
import io.lockkeeper.v1.WhoAmIResponse;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class WhoAmITest {

  @AutoClose
  private final SecuredServer secured =
      new SecuredServer(new SomeRights().give("token:pay", "pay/", Right.READ, Right.ACQUIRE));

  private WhoAmIResponse ask(String who, String prefix) {
    return secured.locksNow(who).whoAmI(WhoAmIRequest.newBuilder().setPrefix(prefix).build());
  }

  @Test
  void callerIsToldHisNameHisProofAndHisAddress() {
    // When
    WhoAmIResponse me = ask("pay", "");
    // Then
    assertThat(me.getIdentity()).isEqualTo("token:pay");
    assertThat(me.getNamesList()).containsExactly("token:pay");
    assertThat(me.getCredential()).isEqualTo(CredentialKind.CREDENTIAL_KIND_STATIC_TOKEN);
    assertThat(me.getAddress()).isNotEmpty();
    assertThat(me.getCoordinatorId()).isNotEmpty();
    assertThat(me.getVersion()).isNotEmpty();
  }

  @Test
  void rightsAreThoseOnAllThatIsAskedAbout() {
    // When
    WhoAmIResponse everywhere = ask("pay", "");
    WhoAmIResponse there = ask("pay", "pay/");
    WhoAmIResponse one =
        secured.locksNow("pay").whoAmI(WhoAmIRequest.newBuilder().setName("pay/1").build());
    // Then
    assertThat(everywhere.getRightsList()).isEmpty();
    assertThat(there.getRightsList()).contains("read", "acquire").doesNotContain("admin");
    assertThat(one.getRightsList()).isEqualTo(there.getRightsList());
  }

  @Test
  void whoHasNoRightAtAllIsAnsweredToo() {
    assertThat(ask("stranger", "").getIdentity()).isEqualTo("token:stranger");
  }

  @Test
  void anonymousCallerIsAnsweredWhereHeIsLetInWithTheLimitsThatCountForHim() {
    // Given
    try (InProcess open = InProcess.onRealCoordinator(AccessRules.OPEN)) {
      // When
      WhoAmIResponse me = open.locksNow().whoAmI(WhoAmIRequest.getDefaultInstance());
      // Then
      assertThat(me.getIdentity()).isEqualTo("anonymous");
      assertThat(me.getCredential()).isEqualTo(CredentialKind.CREDENTIAL_KIND_NONE);
      assertThat(me.getRightsList()).contains("acquire", "admin");
      assertThat(me.getLimits().getLeases()).isEqualTo(Limits.WITHOUT_POLICY.leases());
      assertThat(me.getLimits().getMaxWait().getSeconds())
          .isEqualTo(Limits.WITHOUT_POLICY.maxWait().toSeconds());
    }
  }

  @Test
  void nameAndPrefixTogetherAreRefused() {
    // When
    StatusRuntimeException refused =
        catchThrowableOfType(
            StatusRuntimeException.class,
            () ->
                secured
                    .locksNow("pay")
                    .whoAmI(WhoAmIRequest.newBuilder().setName("a").setPrefix("b").build()));
    // Then
    assertThat(refused.getStatus().getCode()).isEqualTo(Code.INVALID_ARGUMENT);
    assertThat(refused.getStatus().getDescription()).contains("prefix");
  }
}
