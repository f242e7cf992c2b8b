/** Processes, faults and bare stubs for the tests. */
package io.lockkeeper.integration.harness;
