/** The clients of every language, each driven by the conformance kit's line protocol. */
package io.lockkeeper.integration.clients;
