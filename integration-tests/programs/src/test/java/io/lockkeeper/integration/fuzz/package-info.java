/** Hostile requests by the hundred thousand against a protected server, beside a witness. */
package io.lockkeeper.integration.fuzz;
