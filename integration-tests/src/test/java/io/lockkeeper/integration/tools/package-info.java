/** Tests that need programs other than Java: a browser, Prometheus, a C compiler. */
package io.lockkeeper.integration.tools;
