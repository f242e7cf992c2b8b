/**
 * The conformance kit: scripted servers, a client that runs as a child process, and scenarios that
 * judge it by what it reports. The line protocol is described in {@code docs/writing-a-client.md}.
 */
@NullMarked
package io.lockkeeper.conformance;

import org.jspecify.annotations.NullMarked;
