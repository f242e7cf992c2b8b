/** What outages of the ensemble cost, with real processes: one table of faults and floors. */
package io.lockkeeper.integration.outages;
