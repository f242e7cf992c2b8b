package io.lockkeeper.integration.docs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** The files of the repository, without what builds and runs leave behind. */
final class Tree {

  /** The root of the repository. */
  static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

  /** What .gitignore names, wherever it is. */
  private static final Set<String> MADE =
      Set.of(".git", "target", "build", "dist", "gen", "data", "node_modules", ".venv");

  private Tree() {}

  /** Returns all files, in no particular order. */
  static Stream<Path> files() {
    List<Path> files = new ArrayList<>();
    try {
      Files.walkFileTree(
          ROOT,
          new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
              return MADE.contains(folder.getFileName().toString())
                  ? FileVisitResult.SKIP_SUBTREE
                  : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
              files.add(file);
              return FileVisitResult.CONTINUE;
            }
          });
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return files.stream();
  }

  /** Returns the path of a file below the root, with slashes. */
  static String nameOf(Path file) {
    return ROOT.relativize(file).toString().replace(file.getFileSystem().getSeparator(), "/");
  }

  /** Copies all files into a directory, with their times. */
  static void copyTo(Path directory) throws IOException {
    for (Path file : files().toList()) {
      Path copy = directory.resolve(ROOT.relativize(file));
      Files.createDirectories(copy.getParent());
      Files.copy(file, copy, StandardCopyOption.COPY_ATTRIBUTES);
    }
  }
}
