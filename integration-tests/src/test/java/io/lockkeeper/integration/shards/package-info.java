/** Several ensembles that share the namespaces among them. */
package io.lockkeeper.integration.shards;
