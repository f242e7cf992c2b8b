package io.lockkeeper.server.app;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** Reads the configuration file: one YAML mapping of setting to value. */
final class ConfigFile {

  private static final YAMLMapper YAML =
      YAMLMapper.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();

  private static final int MAX_BYTES = 1 << 20;

  private ConfigFile() {}

  /**
   * Returns what the file sets.
   *
   * @throws ConfigException if it cannot be read, is not a mapping, or has a key that is no setting
   */
  static Map<Setting, String> read(Path file) {
    JsonNode root = parse(file);
    Map<Setting, String> values = new EnumMap<>(Setting.class);
    if (root.isNull() || root.isMissingNode()) {
      return values; // an empty file sets nothing
    }
    if (!root.isObject()) {
      throw new ConfigException(file + ": must be a mapping of settings to values");
    }
    for (Map.Entry<String, JsonNode> entry : root.properties()) {
      Setting setting =
          Setting.ofKey(entry.getKey())
              .orElseThrow(
                  () ->
                      new ConfigException(
                          file
                              + ": unknown setting \""
                              + entry.getKey()
                              + "\""
                              + Spelling.suggestion(entry.getKey(), Setting.keys())
                              + "; see serve --help"));
      if (!entry.getValue().isValueNode() || entry.getValue().isNull()) {
        throw new ConfigException(file + ": " + setting.key() + " must be one plain value");
      }
      values.put(setting, entry.getValue().asString());
    }
    return values;
  }

  private static JsonNode parse(Path file) {
    try (InputStream in = Files.newInputStream(file)) { // may be a pipe
      byte[] content = in.readNBytes(MAX_BYTES + 1);
      if (content.length > MAX_BYTES) {
        throw new IOException("it has more than " + MAX_BYTES + " bytes");
      }
      return YAML.readTree(
          StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(content)).toString());
    } catch (NoSuchFileException e) {
      throw new ConfigException("configuration file " + file + " does not exist");
    } catch (AccessDeniedException e) {
      throw new ConfigException("configuration file " + file + " may not be read");
    } catch (IOException e) {
      throw new ConfigException(
          "configuration file " + file + " cannot be read: " + e.getMessage());
    } catch (JacksonException e) {
      int line = e.getLocation() == null ? 0 : e.getLocation().getLineNr();
      String what = e.getOriginalMessage().lines().findFirst().orElse("not YAML").strip();
      throw new ConfigException(file + ", line " + line + ": " + what);
    }
  }
}
