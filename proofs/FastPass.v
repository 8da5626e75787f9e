(* The certificate of the fast pass, with the roundings of the comparison itself: `Sums.locate`, `Sums.locate_all` and
   `compute_locate` in src/discreet/sampling. Section *Certificate* of docs/explanation/draw.md.

   zh is the computed total, sh a computed sum, z and s are the real ones; A is the bound on their errors relative to zh.
   A rounding is a factor between 1 - u and 1 + u, none at all included: a compiler may leave some out. *)

From Coq Require Import Reals Lra.
Open Scope R_scope.

Lemma between : forall x y, Rabs x <= y -> - y <= x <= y.
Proof. intros x y. unfold Rabs. destruct (Rcase_abs x); lra. Qed.

Section Certificate.
Variable u : R.
Hypothesis u0 : 0 < u.
Hypothesis u1 : u <= 1 / 1000.

Definition rounded (exact computed : R) : Prop :=
  exists t, Rabs t <= u /\ computed = exact * (1 + t).

Lemma rounded_bounds :
  forall x y, 0 <= x -> rounded x y -> x * (1 - u) <= y <= x * (1 + u).
Proof.
  intros x y x0 [t [small ->]]. apply between in small.
  split; apply Rmult_le_compat_l; lra.
Qed.

Lemma rounded_sign : forall x y, rounded x y -> 0 < y -> 0 < x.
Proof.
  intros x y [t [small ->]] pos. apply between in small.
  destruct (Rlt_le_dec 0 x) as [gt|le]; [exact gt|].
  assert (0 <= - x * (1 + t)) by (apply Rmult_le_pos; lra). lra.
Qed.

(* The share of the total that a word stands for: its quotient and the product are rounded. *)
Definition target (word zh computed : R) : Prop :=
  exists quotient, rounded word quotient /\ rounded (quotient * zh) computed.

(* The margin (2 A + b u) zh, of which the code takes b = 8: the sum and the product are rounded. *)
Definition slack (b A zh computed : R) : Prop :=
  exists total, rounded (2 * A + b * u) total /\ rounded (total * zh) computed.

(* The computed difference is above the computed margin. *)
Definition certain (x y margin : R) : Prop := exists d, rounded (x - y) d /\ d > margin.

(* The same in a batch, where one cell of the words is added to the margin. *)
Definition certain_with_cell (x y margin cell : R) : Prop :=
  exists bound, rounded (margin + cell) bound /\ certain x y bound.

Lemma target_bounds :
  forall word zh y, 0 <= word <= 1 -> 0 < zh -> target word zh y ->
    word * (1 - 2 * u) * zh <= y <= word * zh + (2 * u + u * u) * zh.
Proof.
  intros word zh y [w0 w1] zh0 [q [one two]].
  destruct (rounded_bounds word q w0 one) as [low high].
  assert (q0 : 0 <= q).
  { apply Rle_trans with (word * (1 - u)); [apply Rmult_le_pos; lra|exact low]. }
  destruct (rounded_bounds (q * zh) y ltac:(apply Rmult_le_pos; lra) two) as [low2 high2].
  assert (word * u * zh <= 1 * u * zh) by (repeat apply Rmult_le_compat_r; lra).
  assert (0 <= word * (u * u) * zh) by (repeat apply Rmult_le_pos; lra).
  assert (word * (u * u) * zh <= 1 * (u * u) * zh)
    by (apply Rmult_le_compat_r; [lra|]; apply Rmult_le_compat_r; [apply Rmult_le_pos; lra|lra]).
  assert (word * (1 - u) * zh * (1 - u) <= q * zh * (1 - u)) by (repeat apply Rmult_le_compat_r; lra).
  assert (q * zh * (1 + u) <= word * (1 + u) * zh * (1 + u)) by (repeat apply Rmult_le_compat_r; lra).
  lra.
Qed.

Lemma slack_bounds :
  forall A zh y, 0 <= A -> 0 < zh -> slack 8 A zh y ->
    0 < y /\ (2 * A + 8 * u) * (1 - 2 * u) * zh <= y.
Proof.
  intros A zh y a0 zh0 [q [one two]].
  destruct (rounded_bounds (2 * A + 8 * u) q ltac:(lra) one) as [low _].
  assert (positive : 0 < (2 * A + 8 * u) * (1 - u)) by (apply Rmult_lt_0_compat; lra).
  destruct (rounded_bounds (q * zh) y ltac:(apply Rmult_le_pos; lra) two) as [low2 _].
  assert (0 < q * zh * (1 - u)) by (repeat apply Rmult_lt_0_compat; lra).
  assert ((2 * A + 8 * u) * (1 - u) * zh * (1 - u) <= q * zh * (1 - u))
    by (repeat apply Rmult_le_compat_r; lra).
  assert (0 <= (2 * A + 8 * u) * (u * u) * zh) by (repeat apply Rmult_le_pos; lra).
  split; [lra|]. lra.
Qed.

Lemma certain_difference :
  forall x y margin, 0 <= margin -> certain x y margin -> margin * (1 - u) <= x - y.
Proof.
  intros x y margin m0 [d [near above]].
  pose proof (rounded_sign (x - y) d near ltac:(lra)) as pos.
  destruct (rounded_bounds (x - y) d ltac:(lra) near) as [_ high].
  assert (0 <= margin * (u * u)) by (repeat apply Rmult_le_pos; lra).
  apply Rmult_le_reg_r with (1 + u); lra.
Qed.

(* What the margin leaves, at a real A of any size. *)
Lemma margin_left :
  forall A zh y, 0 <= A -> 0 < zh -> slack 8 A zh y ->
    (2 * A + 8 * u) * (1 - 3 * u) * zh <= y * (1 - u).
Proof.
  intros A zh y a0 zh0 margin. destruct (slack_bounds A zh y a0 zh0 margin) as [_ low].
  assert ((2 * A + 8 * u) * (1 - 2 * u) * zh * (1 - u) <= y * (1 - u))
    by (apply Rmult_le_compat_r; lra).
  assert (0 <= (2 * A + 8 * u) * (u * u) * zh) by (repeat apply Rmult_le_pos; lra). lra.
Qed.

(* A word whose target is that far above a sum: every U that begins with it lies at the real sum or above. *)
Theorem lower_end_is_certain :
  forall A zh z sh s word v t margin,
    0 <= A -> 0 < zh -> 0 < z -> 0 <= sh ->
    Rabs (zh - z) <= A * zh -> Rabs (sh - s) <= A * zh ->
    0 <= word -> word <= v -> v <= 1 ->
    target word zh t -> slack 8 A zh margin -> certain t sh margin -> s <= v * z.
Proof.
  intros A zh z sh s word v t margin a0 zh0 z0 sh0 total sum w0 wv v1 is_t is_margin above.
  apply between in total. apply between in sum.
  destruct (target_bounds word zh t ltac:(lra) zh0 is_t) as [_ high].
  destruct (slack_bounds A zh margin a0 zh0 is_margin) as [m0 _].
  pose proof (certain_difference t sh margin ltac:(lra) above) as apart.
  pose proof (margin_left A zh margin a0 zh0 is_margin) as left.
  assert (word * z <= v * z) by (apply Rmult_le_compat_r; lra).
  assert (word * zh <= 1 * zh) by (apply Rmult_le_compat_r; lra).
  assert (0 < u * zh) by (apply Rmult_lt_0_compat; lra).
  assert (u * u * zh <= 1 / 1000 * (u * zh)).
  { assert (u * (u * zh) <= 1 / 1000 * (u * zh)) by (apply Rmult_le_compat_r; lra). lra. }
  destruct (Rle_dec A (1 / 2)) as [small|large].
  - assert (A * (u * zh) <= 1 / 2 * (u * zh)) by (apply Rmult_le_compat_r; lra).
    assert (word * (zh - z) <= 1 * (A * zh)).
    { apply Rle_trans with (word * (A * zh)); [apply Rmult_le_compat_l; lra|].
      apply Rmult_le_compat_r; [apply Rmult_le_pos; lra|lra]. }
    lra.
  - exfalso.
    assert (0 <= (2 * A - 1) * ((1 - 3 * u) * zh))
      by (apply Rmult_le_pos; [lra|apply Rmult_le_pos; lra]).
    lra.
Qed.

(* And every U that begins with a word whose end's target is that far below a sum lies below the real sum. *)
Theorem upper_end_is_certain :
  forall A zh z sh s next v t margin,
    0 <= A -> 0 < zh -> 0 < z -> sh <= zh ->
    Rabs (zh - z) <= A * zh -> Rabs (sh - s) <= A * zh ->
    0 <= v -> v < next -> next <= 1 ->
    target next zh t -> slack 8 A zh margin -> certain sh t margin -> v * z < s.
Proof.
  intros A zh z sh s next v t margin a0 zh0 z0 shz total sum v0 vn n1 is_t is_margin above.
  apply between in total. apply between in sum.
  destruct (target_bounds next zh t ltac:(lra) zh0 is_t) as [low _].
  destruct (slack_bounds A zh margin a0 zh0 is_margin) as [m0 _].
  pose proof (certain_difference sh t margin ltac:(lra) above) as apart.
  pose proof (margin_left A zh margin a0 zh0 is_margin) as left.
  assert (v * z < next * z) by (apply Rmult_lt_compat_r; lra).
  assert (0 <= next * zh) by (apply Rmult_le_pos; lra).
  assert (next * (u * zh) <= 1 * (u * zh)).
  { apply Rmult_le_compat_r; [apply Rmult_le_pos; lra|lra]. }
  assert (0 < u * zh) by (apply Rmult_lt_0_compat; lra).
  assert (u * u * zh <= 1 / 1000 * (u * zh)).
  { assert (u * (u * zh) <= 1 / 1000 * (u * zh)) by (apply Rmult_le_compat_r; lra). lra. }
  destruct (Rle_dec A (1 / 2)) as [small|large].
  - assert (A * (u * zh) <= 1 / 2 * (u * zh)) by (apply Rmult_le_compat_r; lra).
    assert (next * (z - zh) <= 1 * (A * zh)).
    { apply Rle_trans with (next * (A * zh)); [apply Rmult_le_compat_l; lra|].
      apply Rmult_le_compat_r; [apply Rmult_le_pos; lra|lra]. }
    lra.
  - exfalso.
    assert (0 <= (2 * A - 1) * ((1 - 3 * u) * zh))
      by (apply Rmult_le_pos; [lra|apply Rmult_le_pos; lra]).
    lra.
Qed.

(* In a batch the end of a word is its beginning and a cell, whose size is exact. *)
Theorem upper_end_in_a_batch_is_certain :
  forall A zh z sh s word cell v t margin,
    0 <= A -> 0 < zh -> 0 < z -> sh <= zh ->
    Rabs (zh - z) <= A * zh -> Rabs (sh - s) <= A * zh ->
    0 <= word -> 0 < cell -> word + cell <= 1 -> 0 <= v -> v < word + cell ->
    target word zh t -> slack 8 A zh margin -> certain_with_cell sh t margin (cell * zh) ->
    v * z < s.
Proof.
  intros A zh z sh s word cell v t margin a0 zh0 z0 shz total sum w0 c0 wc v0 vn is_t is_margin.
  intros [bound [is_bound above]].
  apply between in total. apply between in sum.
  destruct (target_bounds word zh t ltac:(lra) zh0 is_t) as [low _].
  destruct (slack_bounds A zh margin a0 zh0 is_margin) as [m0 _].
  pose proof (margin_left A zh margin a0 zh0 is_margin) as left.
  assert (0 < cell * zh) by (apply Rmult_lt_0_compat; lra).
  destruct (rounded_bounds (margin + cell * zh) bound ltac:(lra) is_bound) as [low2 _].
  assert (0 <= (margin + cell * zh) * (1 - u)) by (apply Rmult_le_pos; lra).
  pose proof (certain_difference sh t bound ltac:(lra) above) as apart.
  assert ((margin + cell * zh) * (1 - u) * (1 - u) <= bound * (1 - u))
    by (apply Rmult_le_compat_r; lra).
  assert ((2 * A + 8 * u) * (1 - 3 * u) * zh * (1 - u) <= margin * (1 - u) * (1 - u))
    by (apply Rmult_le_compat_r; lra).
  assert (0 <= cell * zh * (u * u)) by (repeat apply Rmult_le_pos; lra).
  assert (0 <= (2 * A + 8 * u) * (u * u) * zh) by (repeat apply Rmult_le_pos; lra).
  assert (v * z < (word + cell) * z) by (apply Rmult_lt_compat_r; lra).
  assert (0 <= word * zh) by (apply Rmult_le_pos; lra).
  assert (0 < u * zh) by (apply Rmult_lt_0_compat; lra).
  assert ((word + cell) * (u * zh) <= 1 * (u * zh)) by (apply Rmult_le_compat_r; lra).
  assert (u * u * zh <= 1 / 1000 * (u * zh)).
  { assert (u * (u * zh) <= 1 / 1000 * (u * zh)) by (apply Rmult_le_compat_r; lra). lra. }
  destruct (Rle_dec A (1 / 2)) as [small|large].
  - assert (A * (u * zh) <= 1 / 2 * (u * zh)) by (apply Rmult_le_compat_r; lra).
    assert ((word + cell) * (z - zh) <= 1 * (A * zh)).
    { apply Rle_trans with ((word + cell) * (A * zh)); [apply Rmult_le_compat_l; lra|].
      apply Rmult_le_compat_r; [apply Rmult_le_pos; lra|lra]. }
    lra.
  - exfalso.
    assert (0 <= (2 * A - 1) * ((1 - 4 * u) * zh))
      by (apply Rmult_le_pos; [lra|apply Rmult_le_pos; lra]).
    lra.
Qed.

(* A coin: heads if its computed probability is above the word by a cell and twice C, tails the other way round. *)
Theorem heads_are_certain :
  forall C computed p word cell v w,
    4 * u <= C -> C <= 1 / 4 -> Rabs (computed - p) <= C ->
    0 <= word -> 0 < cell -> word + cell <= 1 -> v < word + cell ->
    rounded word w -> certain_with_cell computed w (2 * C) cell -> v < p.
Proof.
  intros C computed p word cell v w c0 c1 near w0 cell0 wc vn is_w [bound [is_bound above]].
  apply between in near.
  destruct (rounded_bounds word w w0 is_w) as [low high].
  destruct (rounded_bounds (2 * C + cell) bound ltac:(lra) is_bound) as [low2 _].
  assert (0 <= (2 * C + cell) * (1 - u)) by (apply Rmult_le_pos; lra).
  pose proof (certain_difference computed w bound ltac:(lra) above) as apart.
  assert ((2 * C + cell) * (1 - u) * (1 - u) <= bound * (1 - u)) by (apply Rmult_le_compat_r; lra).
  assert (0 <= (2 * C + cell) * (u * u)) by (repeat apply Rmult_le_pos; lra).
  assert (u * word <= u * (1 - cell)) by (apply Rmult_le_compat_l; lra).
  assert (u * (4 * C) <= u * 1) by (apply Rmult_le_compat_l; lra).
  assert (u * cell <= u * 1) by (apply Rmult_le_compat_l; lra).
  lra.
Qed.

Theorem tails_are_certain :
  forall C computed p word cell v w,
    4 * u <= C -> C <= 1 / 4 -> Rabs (computed - p) <= C ->
    0 <= word -> 0 < cell -> word + cell <= 1 -> word <= v ->
    rounded word w -> certain_with_cell w computed (2 * C) cell -> p <= v.
Proof.
  intros C computed p word cell v w c0 c1 near w0 cell0 wc vn is_w [bound [is_bound above]].
  apply between in near.
  destruct (rounded_bounds word w w0 is_w) as [low high].
  destruct (rounded_bounds (2 * C + cell) bound ltac:(lra) is_bound) as [low2 _].
  assert (0 <= (2 * C + cell) * (1 - u)) by (apply Rmult_le_pos; lra).
  pose proof (certain_difference w computed bound ltac:(lra) above) as apart.
  assert ((2 * C + cell) * (1 - u) * (1 - u) <= bound * (1 - u)) by (apply Rmult_le_compat_r; lra).
  assert (0 <= (2 * C + cell) * (u * u)) by (repeat apply Rmult_le_pos; lra).
  assert (u * word <= u * 1) by (apply Rmult_le_compat_l; lra).
  assert (u * (4 * C) <= u * 1) by (apply Rmult_le_compat_l; lra).
  assert (u * cell <= 1 / 1000 * cell) by (apply Rmult_le_compat_r; lra).
  lra.
Qed.

End Certificate.
