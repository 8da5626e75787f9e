(* The score -|f - r|, docs/reference/scores/your_own.md#distance: rounding to whole steps, and the noise that it makes, without ends
   and with two of them. Points are integers, in steps; a is the factor by which a weight falls in one step. *)

From Coq Require Import Reals Lra Lia ZArith.
From Flocq Require Import Core.Raux.
From Discreet Require Import Sums.
Open Scope R_scope.

(* The nearest point, upwards from half way. *)
Definition nearest (x : R) : Z := Zfloor (x + 1 / 2).

Lemma nearest_rises : forall x y, x <= y -> (nearest x <= nearest y)%Z.
Proof. intros x y le. apply Zfloor_le. lra. Qed.

Lemma nearest_shift : forall x c, nearest (x + IZR c) = (nearest x + c)%Z.
Proof.
  intros x c. unfold nearest. replace (x + IZR c + 1 / 2) with (x + 1 / 2 + IZR c) by ring.
  apply Zfloor_imp. pose proof (Zfloor_lb (x + 1 / 2)). pose proof (Zfloor_ub (x + 1 / 2)).
  rewrite !plus_IZR. lra.
Qed.

(* Numbers at most c steps apart have points at most c steps apart. *)
Theorem nearest_apart :
  forall x y c, Rabs (x - y) <= IZR c -> (- c <= nearest x - nearest y <= c)%Z.
Proof.
  intros x y c apart. apply Rabs_le_inv in apart.
  assert (up : (nearest x <= nearest (y + IZR c))%Z) by (apply nearest_rises; lra).
  assert (down : (nearest y <= nearest (x + IZR c))%Z) by (apply nearest_rises; lra).
  rewrite nearest_shift in up, down. lia.
Qed.

(* To the ends of a grid: no farther apart, and not farther than the grid is long. *)
Definition to_ends (last i : Z) : Z := Z.min (Z.max i 0) last.

Theorem to_ends_apart :
  forall last i j c, (0 <= last)%Z -> (- c <= i - j <= c)%Z ->
    (- Z.min c last <= to_ends last i - to_ends last j <= Z.min c last)%Z.
Proof. intros last i j c last0 apart. unfold to_ends. lia. Qed.

(* The score of a point changes by no more than the point moves. *)
Theorem distance_change :
  forall f g r c, (- c <= f - g <= c)%Z -> (- c <= - Z.abs (g - r) - - Z.abs (f - r) <= c)%Z.
Proof. intros f g r c apart. lia. Qed.

(* ---- The noise ---- *)

Definition weight (a : R) (f r : Z) : R := a ^ Z.abs_nat (f - r).

Lemma weight_positive : forall a f r, 0 < a -> 0 < weight a f r.
Proof. intros a f r a0. apply pow_lt. exact a0. Qed.

Lemma power_falls : forall a i j, 0 < a < 1 -> (i <= j)%nat -> a ^ j <= a ^ i.
Proof.
  intros a i j [a0 a1] le. replace j with (i + (j - i))%nat by lia. rewrite pow_add.
  assert (one : a ^ (j - i) <= 1).
  { rewrite <- (pow1 (j - i)). apply pow_incr. lra. }
  pose proof (pow_lt a i a0). assert (a ^ i * a ^ (j - i) <= a ^ i * 1) by (apply Rmult_le_compat_l; lra). lra.
Qed.

(* c steps change a weight by a factor of a^c at most. *)
Lemma weight_change :
  forall a f g r c, 0 < a < 1 -> (- Z.of_nat c <= f - g <= Z.of_nat c)%Z ->
    a ^ c * weight a f r <= weight a g r.
Proof.
  intros a f g r c between apart. unfold weight. rewrite <- pow_add. apply power_falls; [exact between|lia].
Qed.

(* Without ends: the weights of the points within N steps of f sum up to the same number for every f, *)
Definition weights_around (a : R) (f : Z) (N : nat) : R :=
  sum (2 * N + 1) (fun i => weight a f (f - Z.of_nat N + Z.of_nat i)).

Theorem weights_are_balanced : forall a f g N, weights_around a f N = weights_around a g N.
Proof. intros a f g N. apply sum_ext. intros i _. unfold weight. f_equal. lia. Qed.

Lemma powers_sum : forall a n, (1 - a) * sum n (fun i => a ^ i) = 1 - a ^ n.
Proof.
  intros a n. induction n as [|n IH]; cbn [sum pow]; [lra|].
  rewrite Rmult_plus_distr_l, IH. cbn [pow]. lra.
Qed.

Lemma weights_around_are :
  forall a f N, (1 - a) * weights_around a f N = 1 + a - 2 * (a * a ^ N).
Proof.
  intros a f N. unfold weights_around. replace (2 * N + 1)%nat with (N + S N)%nat by lia.
  rewrite sum_split, Rmult_plus_distr_l.
  rewrite (sum_ext (S N) _ (fun i => a ^ i)) by (intros i _; unfold weight; f_equal; lia).
  rewrite (sum_ext N _ (fun i => a * a ^ (N - 1 - i)))
    by (intros i less; unfold weight; change (a * a ^ (N - 1 - i)) with (a ^ S (N - 1 - i)); f_equal; lia).
  rewrite sum_scal, (sum_rev N (fun i => a ^ i)).
  pose proof (powers_sum a N) as left. pose proof (powers_sum a (S N)) as right. cbn [pow] in right.
  replace ((1 - a) * (a * sum N (fun i => a ^ i))) with (a * ((1 - a) * sum N (fun i => a ^ i))) by ring.
  rewrite left, right. ring.
Qed.

(* and the more points, the nearer that is to (1 + a) / (1 - a). *)
Theorem weights_converge :
  forall a f, 0 < a < 1 -> Un_cv (fun N => weights_around a f N) ((1 + a) / (1 - a)).
Proof.
  intros a f between.
  assert (value : forall N, weights_around a f N = (1 + a) / (1 - a) - 2 * a / (1 - a) * a ^ N).
  { intros N. apply Rmult_eq_reg_l with (1 - a); [|lra]. rewrite weights_around_are. field. lra. }
  intros e e0. assert (factor : 0 < 2 * a / (1 - a)) by (apply Rdiv_lt_0_compat; lra).
  destruct (pow_lt_1_zero a ltac:(rewrite Rabs_pos_eq; lra) (e / (2 * a / (1 - a)))
    ltac:(apply Rdiv_lt_0_compat; lra)) as [K small].
  exists K. intros N le. unfold R_dist. rewrite value.
  replace ((1 + a) / (1 - a) - 2 * a / (1 - a) * a ^ N - (1 + a) / (1 - a)) with (- (2 * a / (1 - a) * a ^ N)) by ring.
  rewrite Rabs_Ropp, Rabs_mult, (Rabs_pos_eq (2 * a / (1 - a))) by lra.
  specialize (small N le). apply (Rmult_lt_compat_l (2 * a / (1 - a)) _ _ factor) in small.
  replace (2 * a / (1 - a) * (e / (2 * a / (1 - a)))) with e in small by (field; lra). exact small.
Qed.

(* So the probability of r is its weight times (1 - a) / (1 + a), and c steps cost a factor of a^c, once. *)
Definition probability (a : R) (f r : Z) : R := (1 - a) / (1 + a) * weight a f r.

Theorem without_ends :
  forall a f g r c, 0 < a < 1 -> (- Z.of_nat c <= f - g <= Z.of_nat c)%Z ->
    a ^ c * probability a f r <= probability a g r.
Proof.
  intros a f g r c between apart. unfold probability.
  replace (a ^ c * ((1 - a) / (1 + a) * weight a f r)) with ((1 - a) / (1 + a) * (a ^ c * weight a f r)) by ring.
  apply Rmult_le_compat_l; [left; apply Rdiv_lt_0_compat; lra|]. apply weight_change; assumption.
Qed.

(* It is reached by every r beyond both. *)
Theorem without_ends_is_tight :
  forall a f r c, (f <= r)%Z ->
    a ^ c * probability a f r = probability a (f - Z.of_nat c) r.
Proof.
  intros a f r c beyond. unfold probability, weight.
  replace (Z.abs_nat (f - Z.of_nat c - r)) with (c + Z.abs_nat (f - r))%nat by lia. rewrite pow_add. ring.
Qed.

(* With ends, on the points from 0 to n - 1, the sum depends on f, and the factor comes twice at most. *)
Definition weights_between (a : R) (n : nat) (f : Z) : R := sum n (fun i => weight a f (Z.of_nat i)).

Definition probability_between (a : R) (n : nat) (f r : Z) : R := weight a f r / weights_between a n f.

Lemma weights_between_positive : forall a n f, 0 < a -> (0 < n)%nat -> 0 < weights_between a n f.
Proof. intros a n f a0 some. apply sum_positive; [exact some|]. intros. apply weight_positive. exact a0. Qed.

Theorem with_ends :
  forall a n f g r c, 0 < a < 1 -> (0 < n)%nat -> (- Z.of_nat c <= f - g <= Z.of_nat c)%Z ->
    a ^ (2 * c) * probability_between a n f r <= probability_between a n g r.
Proof.
  intros a n f g r c between some apart. unfold probability_between.
  pose proof (weights_between_positive a n f ltac:(lra) some) as total_f.
  pose proof (weights_between_positive a n g ltac:(lra) some) as total_g.
  pose proof (weight_positive a f r ltac:(lra)) as positive.
  assert (one : a ^ c * weight a f r <= weight a g r) by (apply weight_change; assumption).
  assert (all : a ^ c * weights_between a n g <= weights_between a n f).
  { unfold weights_between. rewrite <- sum_scal. apply sum_le. intros i _.
    apply weight_change; [exact between|lia]. }
  pose proof (pow_lt a c ltac:(lra)) as power.
  replace (2 * c)%nat with (c + c)%nat by lia. rewrite pow_add.
  apply Rmult_le_reg_r with (weights_between a n f * weights_between a n g); [apply Rmult_lt_0_compat; assumption|].
  replace (a ^ c * a ^ c * (weight a f r / weights_between a n f) * (weights_between a n f * weights_between a n g))
    with (a ^ c * weight a f r * (a ^ c * weights_between a n g)) by (field; lra).
  replace (weight a g r / weights_between a n g * (weights_between a n f * weights_between a n g))
    with (weight a g r * weights_between a n f) by (field; lra).
  apply Rmult_le_compat; [apply Rmult_le_pos; lra|apply Rmult_le_pos; lra|exact one|exact all].
Qed.

(* ---- With ends, precisely: the largest ratio is that of the points 0 and c, at 0 ---- *)

Definition total_at (a : R) (n i : nat) : R := weights_between a n (Z.of_nat i).

Lemma total_at_is :
  forall a n i, (i < n)%nat -> (1 - a) * total_at a n i = 1 + a - a * a ^ i - a ^ (n - i).
Proof.
  intros a n i less. unfold total_at, weights_between. replace n with (i + (n - i))%nat at 1 by lia.
  rewrite sum_split, Rmult_plus_distr_l.
  rewrite (sum_ext i _ (fun j => a * a ^ (i - 1 - j)))
    by (intros j before; unfold weight; change (a * a ^ (i - 1 - j)) with (a ^ S (i - 1 - j)); f_equal; lia).
  rewrite (sum_ext (n - i) _ (fun j => a ^ j)) by (intros j _; unfold weight; f_equal; lia).
  rewrite sum_scal, (sum_rev i (fun j => a ^ j)).
  pose proof (powers_sum a i) as left. pose proof (powers_sum a (n - i)) as right.
  replace ((1 - a) * (a * sum i (fun j => a ^ j))) with (a * ((1 - a) * sum i (fun j => a ^ j))) by ring.
  rewrite left, right. ring.
Qed.

Lemma total_mirrored : forall a n i, (i < n)%nat -> total_at a n i = total_at a n (n - 1 - i).
Proof.
  intros a n i less. unfold total_at, weights_between.
  rewrite <- (sum_rev n (fun j => weight a (Z.of_nat i) (Z.of_nat j))).
  apply sum_ext. intros j before. unfold weight. f_equal. lia.
Qed.

Lemma total_positive : forall a n i, 0 < a -> (0 < n)%nat -> 0 < total_at a n i.
Proof. intros. apply weights_between_positive; assumption. Qed.

Lemma power_within : forall a i, 0 < a < 1 -> 0 < a ^ i <= 1.
Proof.
  intros a i between. split; [apply pow_lt; lra|]. change 1 with (a ^ 0). apply power_falls; [exact between|lia].
Qed.

(* From f to f + d the total rises by no larger a factor than from 0 to d. *)
Lemma totals_rise_most_at_the_end :
  forall a n f d, 0 < a < 1 -> (f + d < n)%nat ->
    total_at a n (f + d) * total_at a n 0 <= total_at a n d * total_at a n f.
Proof.
  intros a n f d between inside.
  pose proof (total_at_is a n (f + d) inside) as both. pose proof (total_at_is a n 0 ltac:(lia)) as none.
  pose proof (total_at_is a n d ltac:(lia)) as step. pose proof (total_at_is a n f ltac:(lia)) as first.
  set (x := a ^ f). set (y := a ^ d). set (u := a ^ (n - (f + d))).
  rewrite pow_add in both. fold x y u in both.
  replace (a ^ (n - 0)) with (u * x * y) in none
    by (unfold u, x, y; rewrite Nat.sub_0_r; rewrite <- !pow_add; f_equal; lia).
  replace (a ^ (n - d)) with (u * x) in step by (unfold u, x; rewrite <- pow_add; f_equal; lia).
  replace (a ^ (n - f)) with (u * y) in first by (unfold u, y; rewrite <- pow_add; f_equal; lia).
  fold y in step. fold x in first. cbn [pow] in none.
  pose proof (power_within a f between) as x1. pose proof (power_within a d between) as y1.
  pose proof (power_within a (n - (f + d)) between) as u1. fold x in x1. fold y in y1. fold u in u1.
  clearbody x y u.
  assert (square : 0 < (1 - a) * (1 - a)) by (apply Rmult_lt_0_compat; lra).
  apply Rmult_le_reg_l with ((1 - a) * (1 - a)); [exact square|].
  replace ((1 - a) * (1 - a) * (total_at a n (f + d) * total_at a n 0))
    with (((1 - a) * total_at a n (f + d)) * ((1 - a) * total_at a n 0)) by ring.
  replace ((1 - a) * (1 - a) * (total_at a n d * total_at a n f))
    with (((1 - a) * total_at a n d) * ((1 - a) * total_at a n f)) by ring.
  rewrite both, none, step, first.
  assert (room : a * u * ((1 + x) * (1 + y)) <= (1 + a) * (a + u)).
  { assert ((1 + x) * (1 + y) <= 2 * 2) by (apply Rmult_le_compat; lra).
    assert (0 < a * u) by (apply Rmult_lt_0_compat; lra).
    assert (a * u * ((1 + x) * (1 + y)) <= a * u * (2 * 2)) by (apply Rmult_le_compat_l; lra).
    assert (0 <= (1 - a) * (1 - a) * u) by (apply Rmult_le_pos; [apply Rmult_le_pos|]; lra).
    assert (0 <= a * (1 + a) * (1 - u)) by (apply Rmult_le_pos; [apply Rmult_le_pos|]; lra). lra. }
  assert (0 <= (1 - x) * (1 - y) * ((1 + a) * (a + u) - a * u * ((1 + x) * (1 + y))))
    by (apply Rmult_le_pos; [apply Rmult_le_pos|]; lra).
  lra.
Qed.

Lemma totals_rise :
  forall a n f g c, 0 < a < 1 -> (f < n)%nat -> (g < n)%nat -> (f <= g + c)%nat -> (g <= f + c)%nat -> (c < n)%nat ->
    exists d, (d <= c)%nat /\ (- Z.of_nat d <= Z.of_nat f - Z.of_nat g <= Z.of_nat d)%Z /\
      total_at a n g * total_at a n 0 <= total_at a n d * total_at a n f.
Proof.
  intros a n f g c between f_in g_in low high c_in. destruct (Nat.le_ge_cases f g) as [up|down].
  - exists (g - f)%nat. split; [lia|split; [lia|]].
    replace (total_at a n g) with (total_at a n (f + (g - f))) by (f_equal; lia).
    apply totals_rise_most_at_the_end; [exact between|lia].
  - exists (f - g)%nat. split; [lia|split; [lia|]].
    rewrite (total_mirrored a n g g_in), (total_mirrored a n f f_in).
    replace (total_at a n (n - 1 - g)) with (total_at a n (n - 1 - f + (f - g))) by (f_equal; lia).
    apply totals_rise_most_at_the_end; [exact between|lia].
Qed.

(* ln of the factor is eta c step + ln (Z(c) / Z(0)). *)
Theorem with_ends_exactly :
  forall a n f g r c, 0 < a < 1 -> (f < n)%nat -> (g < n)%nat -> (f <= g + c)%nat -> (g <= f + c)%nat ->
    (c < n)%nat ->
    a ^ c * total_at a n 0 * probability_between a n (Z.of_nat f) r <=
      total_at a n c * probability_between a n (Z.of_nat g) r.
Proof.
  intros a n f g r c between f_in g_in low high c_in.
  destruct (totals_rise a n f g c between f_in g_in low high c_in) as [d [le [apart rise]]].
  pose proof (weight_change a (Z.of_nat f) (Z.of_nat g) r d between apart) as moved.
  assert (on : a ^ (c - d) * total_at a n d <= total_at a n c).
  { unfold total_at, weights_between. rewrite <- sum_scal. apply sum_le. intros i _.
    apply weight_change; [exact between|lia]. }
  pose proof (total_positive a n f ltac:(lra) ltac:(lia)) as pos_f.
  pose proof (total_positive a n g ltac:(lra) ltac:(lia)) as pos_g.
  pose proof (total_positive a n d ltac:(lra) ltac:(lia)) as pos_d.
  pose proof (weight_positive a (Z.of_nat f) r ltac:(lra)) as w_f.
  pose proof (pow_lt a c ltac:(lra)) as power. pose proof (pow_lt a d ltac:(lra)) as power_d.
  pose proof (pow_lt a (c - d) ltac:(lra)) as power_rest.
  unfold probability_between. fold (total_at a n f). fold (total_at a n g).
  apply Rmult_le_reg_r with (total_at a n f * total_at a n g); [apply Rmult_lt_0_compat; assumption|].
  replace (a ^ c * total_at a n 0 * (weight a (Z.of_nat f) r / total_at a n f) * (total_at a n f * total_at a n g))
    with (a ^ c * weight a (Z.of_nat f) r * (total_at a n g * total_at a n 0)) by (field; lra).
  replace (total_at a n c * (weight a (Z.of_nat g) r / total_at a n g) * (total_at a n f * total_at a n g))
    with (weight a (Z.of_nat g) r * total_at a n c * total_at a n f) by (field; lra).
  apply Rle_trans with (a ^ c * weight a (Z.of_nat f) r * (total_at a n d * total_at a n f)).
  - apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|exact rise].
  - replace (a ^ c) with (a ^ d * a ^ (c - d)) by (rewrite <- pow_add; f_equal; lia).
    replace (a ^ d * a ^ (c - d) * weight a (Z.of_nat f) r * (total_at a n d * total_at a n f))
      with ((a ^ d * weight a (Z.of_nat f) r) * (a ^ (c - d) * total_at a n d) * total_at a n f) by ring.
    apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat; [apply Rmult_le_pos; lra|apply Rmult_le_pos; lra|exact moved|exact on].
Qed.

Theorem with_ends_exactly_is_tight :
  forall a n c, 0 < a < 1 -> (0 < n)%nat ->
    a ^ c * total_at a n 0 * probability_between a n 0 0 =
      total_at a n c * probability_between a n (Z.of_nat c) 0.
Proof.
  intros a n c between some.
  pose proof (total_positive a n 0 ltac:(lra) some) as none. pose proof (total_positive a n c ltac:(lra) some) as step.
  unfold probability_between. change (weights_between a n 0) with (total_at a n 0). fold (total_at a n c).
  replace (weight a 0 0) with 1 by reflexivity.
  replace (weight a (Z.of_nat c) 0) with (a ^ c) by (unfold weight; f_equal; lia). field. lra.
Qed.
