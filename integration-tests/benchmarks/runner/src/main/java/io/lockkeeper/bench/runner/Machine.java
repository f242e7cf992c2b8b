package io.lockkeeper.bench.runner;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a run was measured on, and with. */
final class Machine {

  private Machine() {}

  /** Returns the hardware and the system below the JVMs. */
  static Map<String, Object> describe(Processors processors) throws IOException {
    Map<String, Object> machine = new LinkedHashMap<>();
    machine.put("cpu", field(Path.of("/proc/cpuinfo"), "model name"));
    machine.put("cores", Runtime.getRuntime().availableProcessors());
    machine.put("coresAtOnce", processors.atOnce());
    machine.put("sortsPerMillisecondOfOneCore", processors.sorts());
    machine.put("nanosOfAReadIn4MB", processors.readNanos());
    machine.put("memory", field(Path.of("/proc/meminfo"), "MemTotal"));
    machine.put("kernel", System.getProperty("os.name") + " " + System.getProperty("os.version"));
    machine.put(
        "jvm", System.getProperty("java.vm.name") + " " + System.getProperty("java.vm.version"));
    return machine;
  }

  private static String field(Path file, String name) throws IOException {
    return Files.readAllLines(file).stream()
        .filter(line -> line.startsWith(name))
        .map(line -> line.substring(line.indexOf(':') + 1).strip())
        .findFirst()
        .orElse("unknown");
  }

  /** Returns the versions of everything that was measured. */
  static Map<String, Object> versions(Jvms jvms) throws IOException {
    Map<String, Object> versions = new LinkedHashMap<>();
    versions.put("lockkeeper", jvms.version("lockkeeper", "lockkeeper-client"));
    versions.put("zookeeper", jvms.version("zookeeper", "zookeeper"));
    versions.put("curator", jvms.version("zookeeper", "curator-recipes"));
    versions.put("grpc", jvms.version("lockkeeper", "grpc-netty-shaded"));
    versions.put("jetcd", jvms.version("etcd", "jetcd-core"));
    versions.put("redisson", jvms.version("redisson", "redisson"));
    versions.put("etcd", said("etcd", "--version"));
    versions.put("redis", said("redis-server", "--version"));
    return versions;
  }

  private static String said(String program, String option) throws IOException {
    if (Neighbours.find(program).isEmpty()) {
      return "not installed";
    }
    Process process = new ProcessBuilder(List.of(program, option)).start();
    return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
        .lines()
        .findFirst()
        .orElse("")
        .strip();
  }
}
