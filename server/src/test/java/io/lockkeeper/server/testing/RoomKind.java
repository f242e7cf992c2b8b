package io.lockkeeper.server.testing;

import io.lockkeeper.server.core.lock.Kind;
import io.lockkeeper.server.core.lock.Mode;
import io.lockkeeper.server.core.lock.Occupancy;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A room that one team uses at a time, any number of its members together: {@code room-blue}. */
public final class RoomKind implements Kind {

  private static final Kind KIND = new RoomKind();
  private static final Pattern MARKER = Pattern.compile("room-(?<team>[a-z]{1,20})-");

  @Override
  public String name() {
    return "ROOM";
  }

  @Override
  public Optional<Mode> parse(String marker) {
    Matcher matcher = MARKER.matcher(marker);
    return matcher.matches() ? Optional.of(new Member(matcher.group("team"))) : Optional.empty();
  }

  /**
   * Being in the room.
   *
   * @param team of which team
   */
  public record Member(String team) implements Mode {
    @Override
    public Kind kind() {
      return KIND;
    }

    @Override
    public String marker() {
      return "room-" + team + "-";
    }

    @Override
    public boolean joins(Occupancy ahead) {
      return ahead.all(this::equals);
    }
  }
}
