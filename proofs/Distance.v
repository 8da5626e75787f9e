(* The score -|f - r|, docs/reference/scores/distance.md: rounding to whole steps, and the noise that it makes, without ends
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
