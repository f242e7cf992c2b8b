package io.lockkeeper.integration.chaos;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.lang.reflect.Method;
import net.bytebuddy.dynamic.loading.ClassLoadingStrategy;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.proto.CheckVersionRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The bugs can be planted in the classes as they are now. What they do, a run of chaos shows. */
final class PlantedBugTest {

  private static final int EPOCH = 7;
  private static final int ANY = -1;

  @ParameterizedTest
  @EnumSource
  void bugFitsTheClassThatItChanges(PlantedBug bug) {
    assertThatCode(bug::changed).doesNotThrowAnyException();
  }

  @ParameterizedTest
  @EnumSource
  void bugIsFoundByItsName(PlantedBug bug) {
    assertThat(PlantedBug.of(bug.toString())).isEqualTo(bug);
  }

  @Test
  void fenceChecksNoEpochWithTheBugAndItsOwnWithout() throws Exception {
    // Given
    Class<?> changed =
        PlantedBug.SKIP_EPOCH_CHECK
            .changed()
            .load(PlantedBugTest.class.getClassLoader(), ClassLoadingStrategy.Default.CHILD_FIRST)
            .getLoaded();
    Class<?> original = Class.forName(changed.getName());

    // When
    int withTheBug = epochCheckedBy(changed);
    int without = epochCheckedBy(original);

    // Then
    assertThat(withTheBug).isEqualTo(ANY);
    assertThat(without).isEqualTo(EPOCH);
  }

  private static int epochCheckedBy(Class<?> fence) throws ReflectiveOperationException {
    Method of = fence.getDeclaredMethod("of", String.class, int.class);
    of.setAccessible(true);
    Op check = (Op) of.invoke(null, "/claim", EPOCH);
    return ((CheckVersionRequest) check.toRequestRecord()).getVersion();
  }
}
