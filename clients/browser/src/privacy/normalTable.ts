/**
 * The normal distribution in integers, for the codebook: the same numbers in every language. They rise by steps that
 * change little, so each stands here as a sign that says how its step differs from the one before: "3" not at all, "4" by
 * one more, and so on in the order of ASCII.
 */
function risen(number: number, step: number, changes: string, last: number): number[] {
  const before = [number];
  for (const sign of changes) before.push((number += step += sign.charCodeAt(0) - 51));
  return [...before, last];
}

/** The standard normal's mean over each of the 128 upper bins of probability 1/256, times 1024. */
export const UPPER = risen(
  5,
  10,
  "3333333334233333342334233424242424324333243342334242432433334242433333424333342434243334334334334344" +
    "334443535363556566889=?EPq",
  3041,
);

/** The mean over each 256th part of the outermost bin. */
export const OUTERMOST = risen(
  2726,
  1,
  "3342342423424234242424234242424242432424243242432432432432432433243324333324333333243333333333333342" +
    "3333342333423423342423424242424324243243332433333333333334234234242424243324333334233424242433333334" +
    "24243333424243342433334334333442525335344455465779;@G]",
  4494,
);
