(* Numbers that meet all that the theorems of discrete Gaussian noise and its keys ask for; and what is wrong with less. *)

From Coq Require Import Reals Lra Lia Classical.
From Discreet Require Import Sums DiscreteGaussian GaussianKeys.
Open Scope R_scope.

Example total_exists_instance : exists T, total 1 T /\ 0 < T.
Proof.
  destruct (total_exists 1 ltac:(lra)) as [T tot]. exists T. split; [exact tot|apply (total_positive 1 T tot)].
Qed.

(* Half way between two whole numbers the weights of 0 and 1 are below all that a whole number sees. *)
Example no_point_sees_more_instance : forall T, total 1 T -> g 1 (1 / 2) + g 1 (1 / 2) <= T.
Proof.
  intros T [bound _]. pose proof (no_point_sees_more 1 ltac:(lra) T bound 1 (1 / 2)) as le.
  unfold window in le. cbn in le.
  pose proof (g_pos 1 (0 - 1 - 1 / 2)) as rest.
  replace (1 - 1 - 1 / 2) with (- (1 / 2)) in le by lra.
  replace (1 + 1 - 1 - 1 / 2) with (1 / 2) in le by lra.
  rewrite (g_even 1 ltac:(lra)) in le. lra.
Qed.

(* sigma^2 = 1, a number moved by 1, at order 2. *)
Example gaussian_rho_instance : forall T M, total 1 T -> moment 1 T 2 1 0 M <= exp 1.
Proof.
  intros T M tot. pose proof (gaussian_rho 1 ltac:(lra) T tot 2 1 0 M) as le.
  replace (2 * (2 - 1) * ((1 - 0) * (1 - 0) / (2 * 1))) with 1 in le by lra. exact le.
Qed.

Example gaussian_rho_is_reached_instance : forall T, total 1 T -> exists M, 1 < moment 1 T 2 1 0 M.
Proof.
  intros T tot. apply (gaussian_rho_is_reached 1 ltac:(lra) T tot 1 1).
  simpl INR. pose proof (exp_ineq1 1 ltac:(lra)). replace (2 * (1 * 1 / (2 * 1))) with 1 by lra. lra.
Qed.

(* A mutant: a smaller rho. *)
Lemma no_smaller_rho :
  forall rho, rho < 1 / 2 -> ~ forall T, total 1 T -> forall M, moment 1 T 2 1 0 M <= exp (2 * (2 - 1) * rho).
Proof.
  intros rho less bound. destruct (total_exists 1 ltac:(lra)) as [T tot].
  destruct (gaussian_rho_is_reached 1 ltac:(lra) T tot 1 (exp (2 * (2 - 1) * rho))) as [M more].
  - simpl INR. apply exp_increasing. lra.
  - simpl INR in more. specialize (bound T tot M). lra.
Qed.

Example gaussian_rho_adds_instance :
  forall T M, total 1 T ->
    product 2 (fun _ => moment 1 T 3 1 0 M) <= exp 6.
Proof.
  intros T M tot. pose proof (gaussian_rho_adds 1 T ltac:(lra) tot 3 2 (fun _ => 1) (fun _ => 0) M) as le.
  cbn [sum] in le.
  replace (3 * (3 - 1) * (0 + (1 - 0) * (1 - 0) / (2 * 1) + (1 - 0) * (1 - 0) / (2 * 1))) with 6 in le by lra.
  exact le.
Qed.

Example sum_at_most_instance :
  forall T M, total (1 / 2) T ->
    sum (2 * M + 1) (fun i => g 1 (INR i - INR M) * g 1 (1 - (INR i - INR M))) <= g 2 1 * T.
Proof.
  intros T M [bound _]. pose proof (sum_at_most 1 1 T 1 M ltac:(lra) ltac:(lra)) as le.
  replace (1 * 1 / (1 + 1)) with (1 / 2) in le by lra. replace (1 + 1) with 2 in le by lra. exact (le bound).
Qed.

Example sum_reaches_instance :
  forall T r, total (1 / 2) T -> r < g 2 2 * T ->
    exists M, (0 <= M)%nat /\ r < sum (2 * M + 1) (fun i => g 1 (INR i - INR M) * g 1 (2 - (INR i - INR M))).
Proof.
  intros T r tot less. apply (sum_reaches 1 1 T 1 2 0); try lra.
  - simpl INR. lra.
  - replace (1 * 1 / (1 + 1)) with (1 / 2) by lra. exact tot.
  - replace (1 + 1) with 2 by lra. exact less.
Qed.

(* Two answers, 3/4 and 1/4 against 1/4 and 3/4; an own key with probability 1/10 before. At e = 2. *)
Definition before (i : nat) : R := match i with O => 3 / 4 | _ => 1 / 4 end.
Definition after (i : nat) : R := match i with O => 1 / 4 | _ => 3 / 4 end.

Lemma the_charge : charged 2 (1 / 10) 1 0 2 before after = 1 - 9 / 10 * (1 - 7 / 36).
Proof.
  unfold charged, excess, silent, before, after. cbn [sum pow].
  rewrite (Rmax_right 0 (3 / 4 - _)) by lra. rewrite Rmax_left by lra. lra.
Qed.

Example own_keys_instance :
  forall own own' E,
    chance 2 (1 / 10) 1 before own E - 2 * chance 2 (1 / 10) 0 after own' E <= 1 - 9 / 10 * (1 - 7 / 36).
Proof. intros. rewrite <- the_charge. apply own_keys; lra. Qed.

Example own_keys_are_reached_instance :
  exists E, chance 2 (1 / 10) 1 before true E - 2 * chance 2 (1 / 10) 0 after false E = 1 - 9 / 10 * (1 - 7 / 36).
Proof. rewrite <- the_charge. apply own_keys_are_reached. lra. Qed.

Example own_keys_shift_epsilon_instance :
  exp 0 * silent (1 / 10) 0 / silent (1 / 10) 1 = exp (0 + (1 - 0) * - ln (1 - 1 / 10)).
Proof. apply (own_keys_shift_epsilon (1 / 10) 1 0 0). lra. Qed.

Example of_own_keys_alone_instance : charged 2 (1 / 10) 1 0 1 before before = 1 - silent (1 / 10) 1.
Proof.
  apply of_own_keys_alone; [lra| |unfold silent; cbn [pow]; lra].
  intros [|i] _; unfold before; lra.
Qed.

(* A mutant: the larger of both parts alone, 1/10 and 1/4. *)
Lemma the_larger_part_is_too_little :
  exists E, Rmax (1 - silent (1 / 10) 1) (excess 2 2 before after)
    < chance 2 (1 / 10) 1 before true E - 2 * chance 2 (1 / 10) 0 after false E.
Proof.
  destruct own_keys_are_reached_instance as [E same]. exists E. rewrite same.
  unfold excess, silent, before, after. cbn [sum pow].
  rewrite (Rmax_right 0 (3 / 4 - _)) by lra. rewrite (Rmax_left 0 _) by lra.
  apply Rmax_case; lra.
Qed.
