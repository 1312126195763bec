/**
 * The normal distribution in integers, for the codebook: the same numbers in every language. They rise, so each stands
 * here as what it is more than the one before.
 */
function risen(steps: string): number[] {
  let sum = 0;
  return steps.split(" ").map((step) => (sum += +step));
}

/** The standard normal's mean over each of the 128 upper bins of probability 1/256, times 1024. */
export const UPPER = risen(
  "5 10 10 10 10 10 10 10 10 10 11 10 10 10 10 10 10 10 11 10 10 10 11 10 10 10 11 10 11 10 11 10 11 10 11 11 10 11 " +
    "11 11 11 10 11 11 11 12 11 11 11 12 11 12 11 12 12 11 12 12 12 12 12 13 12 13 12 13 13 13 13 13 13 14 13 14 14 " +
    "14 14 14 15 14 15 15 16 15 16 16 16 16 17 17 17 18 18 18 19 19 19 20 20 21 22 22 22 23 24 25 25 27 27 29 29 32 " +
    "32 34 36 39 41 44 47 52 57 63 73 85 103 132 194 453",
);

/** The mean over each 256th part of the outermost bin. */
export const OUTERMOST = risen(
  "2726 1 1 2 1 1 2 1 2 1 1 2 1 2 1 1 2 1 2 1 2 1 2 1 1 2 1 2 1 2 1 2 1 2 1 2 2 1 2 1 2 1 2 2 1 2 1 2 2 1 2 2 1 2 2 " +
    "1 2 2 1 2 2 1 2 2 2 1 2 2 2 1 2 2 2 2 2 1 2 2 2 2 2 2 2 1 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 3 2 2 2 2 2 2 3 2 2 2 2 " +
    "3 2 2 3 2 2 2 3 2 3 2 2 3 2 3 2 3 2 3 2 3 3 2 3 2 3 3 2 3 3 3 3 2 3 3 3 3 3 3 3 3 3 3 3 3 3 3 4 3 3 4 3 3 4 3 4 " +
    "3 4 3 4 3 4 4 4 3 4 4 4 4 4 4 5 4 4 4 5 4 5 4 5 4 5 5 5 5 5 5 5 5 6 5 6 5 6 6 6 6 6 7 6 7 6 7 7 7 8 7 8 8 8 8 8 " +
    "9 9 9 10 10 10 10 11 12 11 13 12 14 14 14 16 16 17 18 19 21 23 24 27 29 33 37 43 51 64 84 126 314",
);
