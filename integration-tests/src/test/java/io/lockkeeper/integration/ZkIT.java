package io.lockkeeper.integration;

import static org.assertj.core.api.Assertions.assertThat;

import io.lockkeeper.integration.harness.Program;
import io.lockkeeper.integration.harness.Rig;
import io.lockkeeper.integration.harness.Znodes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Single nodes in ZooKeeper, with nothing but the program. */
final class ZkIT {

  private final Rig rig = Rig.shared();
  @AutoClose private final Znodes znodes = Znodes.at(rig.zookeeper().connectString());

  private Program zk(String... arguments) {
    List<String> all =
        new ArrayList<>(List.of("zk", "--zookeeper", rig.zookeeper().connectString()));
    all.addAll(List.of(arguments));
    return Program.run(Map.of(), all.toArray(String[]::new));
  }

  @Test
  void nodeIsListedShownAndDeletedOnlyWithAYes() {
    // Given
    String entry = znodes.queueForeignEntry("zk/42");
    String directory = znodes.pathOf("zk/42");
    String name = entry.substring(entry.lastIndexOf('/') + 1);
    // When
    Program listed = zk("ls", directory);
    Program shown = zk("get", directory + "/" + name);
    Program unconfirmed = zk("delete", directory + "/" + name);
    boolean there = znodes.exists(directory + "/" + name);
    Program deleted = zk("delete", "--yes", directory + "/" + name);
    // Then
    assertThat(listed.text().lines()).contains(name);
    assertThat(shown.text()).contains("session   ", "children  0");
    assertThat(unconfirmed.exitCode()).isEqualTo(2);
    assertThat(there).isTrue();
    assertThat(deleted.exitCode()).as(deleted.text()).isZero();
    assertThat(deleted.text()).contains(name, "deleted");
    assertThat(znodes.exists(directory + "/" + name)).isFalse();
  }

  @Test
  void secretsAreShownOnlyByForceAndNodesWithChildrenStay() {
    // Given
    znodes.queueForeignEntry("zk/43");
    // When
    Program refused = zk("ls", "/lockkeeper/sessions");
    Program forced = zk("ls", "/lockkeeper/sessions", "--force");
    Program parent = zk("delete", "--yes", znodes.pathOf("zk/43"));
    Program missing = zk("get", "/lockkeeper/locks/nothing");
    // Then
    assertThat(refused.exitCode()).isEqualTo(2);
    assertThat(refused.text()).contains("--force");
    assertThat(forced.exitCode()).isZero();
    assertThat(parent.exitCode()).isEqualTo(2);
    assertThat(parent.text()).contains("has nodes below it");
    assertThat(missing.exitCode()).isEqualTo(1);
    assertThat(missing.text()).contains("there is no node /lockkeeper/locks/nothing");
  }
}
