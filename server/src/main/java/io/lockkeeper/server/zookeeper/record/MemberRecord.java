package io.lockkeeper.server.zookeeper.record;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * What a coordinator says of itself: the data of its member node.
 *
 * @param address where it serves gRPC, as {@code host:port}
 * @param home what the coordinators that run one after the other on a data directory have in
 *     common; may be empty
 */
public record MemberRecord(String address, String home) {

  /** A name or an address, and a port. */
  private static final Pattern ADDRESS =
      Pattern.compile("([A-Za-z0-9._-]{1,255}|\\[[0-9A-Fa-f:.%]{2,64}\\]):[0-9]{1,5}");

  /** Returns whether it says where to reach a coordinator. */
  public boolean hasAddress() {
    return ADDRESS.matcher(address).matches();
  }

  /** Returns the node's data. */
  public byte[] write() {
    Map<String, Object> object = RecordFormat.newRecord();
    object.put("address", address);
    if (!home.isEmpty()) {
      object.put("home", home);
    }
    return Json.write(object);
  }

  /**
   * Reads a node's data; what is no JSON is taken for the address, and one that this release cannot
   * read has none.
   */
  public static MemberRecord read(byte[] data) {
    return Json.readObject(data)
        .map(object -> RecordFormat.isReadable(object) ? object : Json.NONE)
        .map(object -> new MemberRecord(Json.text(object, "address"), Json.text(object, "home")))
        .orElseGet(() -> new MemberRecord(new String(data, StandardCharsets.UTF_8), ""));
  }
}
