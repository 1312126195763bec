/** What one person has sent, as plain data: everything that the cost depends on, and nothing about what was said. */

export interface Spent {
  /** Pure reports: their epsilon and how many of them, each epsilon once, in rising order. */
  readonly pure: readonly (readonly [epsilon: number, count: number])[];
  /** Sum of the squared Gaussian distances, in units of the noise. */
  readonly squared: number;
  /** How many numbers carried discrete Gaussian noise. */
  readonly coordinates: number;
}

export const NOTHING: Spent = { pure: [], squared: 0, coordinates: 0 };

/** One pure report. */
export function pureReport(epsilon: number): Spent {
  return { ...NOTHING, pure: [[epsilon, 1]] };
}

/** Each of them so many times. */
function sum(parts: readonly (readonly [spent: Spent, times: number])[]): Spent {
  const merged = new Map<number, number>();
  let [squared, coordinates] = [0, 0];
  for (const [spent, times] of parts) {
    for (const [epsilon, count] of spent.pure) merged.set(epsilon, (merged.get(epsilon) ?? 0) + count * times);
    squared += spent.squared * times;
    coordinates += spent.coordinates * times;
  }
  return { pure: [...merged].sort(([a], [b]) => a - b), squared, coordinates };
}

/** The first, and so many times the second. */
export function plus(first: Spent, second: Spent, times = 1): Spent {
  return sum([
    [first, 1],
    [second, times],
  ]);
}

/** What all of these cost. */
export function costOf(entries: readonly { readonly cost: Spent }[]): Spent {
  return sum(entries.map(({ cost }) => [cost, 1]));
}

/** Basic composition: the sum of all epsilons at delta 0; infinite with Gaussian noise. */
export function total(spent: Spent): number {
  return spent.squared ? Infinity : exactSum(spent.pure.map(([epsilon, count]) => epsilon * count));
}

/** The sum of numbers, rounded once (Shewchuk 1997), as Python's `math.fsum` but for ties within ties. */
export function exactSum(numbers: number[]): number {
  let parts: number[] = []; // their exact sum is that of the numbers so far; none overlaps another
  for (let sum of numbers) {
    const kept: number[] = [];
    for (const part of parts) {
      const [large, small] = Math.abs(sum) < Math.abs(part) ? [part, sum] : [sum, part];
      sum = large + small;
      const lost = small - (sum - large);
      if (lost) kept.push(lost);
    }
    parts = [...kept, sum];
  }
  return parts.reduce((sum, part) => sum + part, 0); // from the smallest, so that a tie is broken by what follows
}
