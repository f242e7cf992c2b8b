package io.lockkeeper.cli.call;

import java.net.InetAddress;
import java.net.UnknownHostException;

/** Who runs this program, for others to see. */
public final class Me {

  private Me() {}

  /** Returns {@code user@host}, as far as they are known. */
  public static String atHost() {
    String user = System.getProperty("user.name", "somebody");
    try {
      return user + "@" + InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return user;
    }
  }
}
