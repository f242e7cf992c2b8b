package io.lockkeeper.bench.runner;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Where values lie on an axis.
 *
 * @param isLogarithmic whether each step is ten times the one before
 */
record Scale(double least, double greatest, double step, boolean isLogarithmic) {

  private static final int TICKS = 5;

  /** Returns a scale with round ends that has both values. */
  static Scale of(double least, double greatest, boolean isLogarithmic) {
    if (isLogarithmic) {
      double from = Math.pow(10, Math.floor(Math.log10(Math.max(least, 1e-6))));
      double to = Math.pow(10, Math.ceil(Math.log10(Math.max(greatest, from * 10))));
      return new Scale(from, to, 10, true);
    }
    double rough = Math.max(greatest, 1e-9) / TICKS;
    double power = Math.pow(10, Math.floor(Math.log10(rough)));
    double step = power;
    for (double factor : new double[] {1, 2, 5, 10}) {
      step = power * factor;
      if (step >= rough) {
        break;
      }
    }
    return new Scale(0, step * Math.ceil(greatest / step), step, false);
  }

  /** Returns how far along the axis a value lies, from 0 to 1. */
  double part(double value) {
    return isLogarithmic
        ? (Math.log10(value) - Math.log10(least)) / (Math.log10(greatest) - Math.log10(least))
        : value / greatest;
  }

  /** Returns the values to name. */
  List<Double> ticks() {
    List<Double> ticks = new ArrayList<>();
    double tick = least;
    while (tick <= greatest * 1.0001) {
      ticks.add(tick);
      tick = isLogarithmic ? tick * step : tick + step;
    }
    return ticks;
  }

  /** Returns a value in few digits. */
  static String label(double value) {
    return String.format(Locale.ROOT, value != 0 && value < 10 ? "%.1f" : "%,.0f", value);
  }
}
