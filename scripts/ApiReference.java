import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.EnumDescriptorProto;
import com.google.protobuf.DescriptorProtos.EnumValueDescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.Label;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.Type;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import com.google.protobuf.DescriptorProtos.MethodDescriptorProto;
import com.google.protobuf.DescriptorProtos.ServiceDescriptorProto;
import com.google.protobuf.DescriptorProtos.SourceCodeInfo.Location;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Writes the reference of the API as one page of HTML: every service, call, message, field and value with its comment.
 *
 * <pre>java -cp JAR_WITH_PROTOBUF scripts/ApiReference.java DESCRIPTOR_SET PAGE</pre>
 *
 * The descriptor set must have source info.
 */
final class ApiReference {

  private static final String STYLE =
      "body{font:16px/1.5 sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}"
          + "table{border-collapse:collapse;width:100%;margin:.5rem 0 1.5rem}"
          + "td,th{border-top:1px solid #ddd;padding:.35rem .6rem;text-align:left;vertical-align:top}"
          + "code{font:14px monospace}h2{border-bottom:2px solid #222;margin-top:3rem}"
          + "h3{margin:2rem 0 .3rem}nav{columns:3}a{color:#05a;text-decoration:none}.n{color:#777}";

  private final StringBuilder page = new StringBuilder();
  private final Map<List<Integer>, String> comments = new HashMap<>();

  public static void main(String[] args) throws IOException {
    try (InputStream in = Files.newInputStream(Path.of(args[0]))) {
      String page = new ApiReference().of(FileDescriptorSet.parseFrom(in));
      Files.createDirectories(Path.of(args[1]).getParent());
      Files.writeString(Path.of(args[1]), page);
    }
  }

  private String of(FileDescriptorSet files) {
    List<FileDescriptorProto> ours =
        files.getFileList().stream().filter(file -> file.getPackage().startsWith("lockkeeper")).toList();
    line("<!doctype html><html lang=en><meta charset=utf-8><title>Lockkeeper API</title>");
    line("<style>" + STYLE + "</style><h1>Lockkeeper API</h1>");
    line("<p>Package <code>lockkeeper.v1</code>. Written from the comments of the proto files.</p><nav>");
    for (FileDescriptorProto file : ours) {
      file.getServiceList().forEach(s -> line(link(s.getName()) + "<br>"));
      file.getMessageTypeList().forEach(m -> line(link(m.getName()) + "<br>"));
      file.getEnumTypeList().forEach(e -> line(link(e.getName()) + "<br>"));
    }
    line("</nav>");
    ours.forEach(this::file);
    return page.toString();
  }

  private void file(FileDescriptorProto file) {
    comments.clear();
    for (Location location : file.getSourceCodeInfo().getLocationList()) {
      String detached = String.join("\n", location.getLeadingDetachedCommentsList());
      // What stands above "syntax" is about the whole file.
      boolean whole = location.getPathList().equals(List.of(FileDescriptorProto.SYNTAX_FIELD_NUMBER));
      comments.put(
          location.getPathList(), whole ? detached + "\n" + location.getLeadingComments() : location.getLeadingComments());
    }
    line("<h2>" + file.getName() + "</h2>" + comment(FileDescriptorProto.SYNTAX_FIELD_NUMBER));
    for (int i = 0; i < file.getServiceCount(); i++) {
      service(file.getService(i), FileDescriptorProto.SERVICE_FIELD_NUMBER, i);
    }
    for (int i = 0; i < file.getMessageTypeCount(); i++) {
      message(file.getMessageType(i), FileDescriptorProto.MESSAGE_TYPE_FIELD_NUMBER, i);
    }
    for (int i = 0; i < file.getEnumTypeCount(); i++) {
      values(file.getEnumType(i), FileDescriptorProto.ENUM_TYPE_FIELD_NUMBER, i);
    }
  }

  private void service(ServiceDescriptorProto service, int... path) {
    heading(service.getName(), "service", path);
    for (int i = 0; i < service.getMethodCount(); i++) {
      MethodDescriptorProto method = service.getMethod(i);
      line("<h4 id=\"" + service.getName() + "." + method.getName() + "\"><code>" + method.getName() + "("
          + (method.getClientStreaming() ? "stream " : "") + typeLink(method.getInputType()) + ") returns ("
          + (method.getServerStreaming() ? "stream " : "") + typeLink(method.getOutputType()) + ")</code></h4>"
          + comment(below(path, ServiceDescriptorProto.METHOD_FIELD_NUMBER, i)));
    }
  }

  private void message(DescriptorProto message, int... path) {
    heading(message.getName(), "message", path);
    if (message.getFieldCount() == 0) {
      return;
    }
    line("<table><tr><th>Field<th>Type<th>What it says</tr>");
    for (int i = 0; i < message.getFieldCount(); i++) {
      FieldDescriptorProto field = message.getField(i);
      line("<tr><td><code>" + field.getName() + "</code> <span class=n>" + field.getNumber() + "</span><td>"
          + type(message, field) + "<td>" + comment(below(path, DescriptorProto.FIELD_FIELD_NUMBER, i)) + "</tr>");
    }
    line("</table>");
  }

  private void values(EnumDescriptorProto values, int... path) {
    heading(values.getName(), "enum", path);
    line("<table><tr><th>Value<th>What it says</tr>");
    for (int i = 0; i < values.getValueCount(); i++) {
      EnumValueDescriptorProto value = values.getValue(i);
      line("<tr><td><code>" + value.getName() + "</code> <span class=n>" + value.getNumber() + "</span><td>"
          + comment(below(path, EnumDescriptorProto.VALUE_FIELD_NUMBER, i)) + "</tr>");
    }
    line("</table>");
  }

  private String type(DescriptorProto message, FieldDescriptorProto field) {
    for (DescriptorProto nested : message.getNestedTypeList()) {
      if (nested.getOptions().getMapEntry() && field.getTypeName().endsWith("." + nested.getName())) {
        return "map of " + type(nested, nested.getField(0)) + " to " + type(nested, nested.getField(1));
      }
    }
    boolean named = field.getType() == Type.TYPE_MESSAGE || field.getType() == Type.TYPE_ENUM;
    String type =
        named ? typeLink(field.getTypeName()) : field.getType().name().substring("TYPE_".length()).toLowerCase(Locale.ROOT);
    if (field.getLabel() == Label.LABEL_REPEATED) {
      return "repeated " + type;
    }
    boolean oneof = field.hasOneofIndex() && !field.getProto3Optional();
    return (field.getProto3Optional() ? "optional " : "") + type
        + (oneof ? "<br><span class=n>oneof " + message.getOneofDecl(field.getOneofIndex()).getName() + "</span>" : "");
  }

  private void heading(String name, String what, int... path) {
    line("<h3 id=\"" + name + "\">" + name + " <span class=n>" + what + "</span></h3>" + comment(path));
  }

  private static int[] below(int[] path, int field, int index) {
    return new int[] {path[0], path[1], field, index};
  }

  private String comment(int... path) {
    List<Integer> key = new ArrayList<>();
    for (int step : path) {
      key.add(step);
    }
    String text = escaped(comments.getOrDefault(key, "").strip());
    return "<p>" + text.replaceAll("\n *- ", "<br>• ").replaceAll("\n\\s*", " ") + "</p>";
  }

  private static String typeLink(String type) {
    String simple = type.substring(type.lastIndexOf('.') + 1);
    return type.startsWith(".lockkeeper.") ? link(simple) : type.substring(1);
  }

  private static String link(String name) {
    return "<a href=\"#" + name + "\">" + name + "</a>";
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }

  private void line(String text) {
    page.append(text).append('\n');
  }
}
