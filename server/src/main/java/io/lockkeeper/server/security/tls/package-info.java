/**
 * The files of TLS: checked when they are read, replaced while the server runs, and what a
 * certificate says of whoever shows it.
 */
@NullMarked
package io.lockkeeper.server.security.tls;

import org.jspecify.annotations.NullMarked;
